"""The phrases of a caption: a random wording of a meaning, with all of its claims and no others."""

import numpy as np

from counterpart_drawn.meanings import SEVERAL, SOME, Claim, Meaning
from counterpart_drawn.scenes import pick

Rng = np.random.Generator

SYNONYMS = {"bicycle": ("bicycle", "bike"), "sofa": ("sofa", "couch"), "child": ("child", "kid")}
PLURALS = {"child": "children", "bus": "buses", "couch": "couches"}
COLLECTIVES = {
    "fruit": ("piece of fruit", "pieces of fruit"),
    "furniture": ("piece of furniture", "pieces of furniture"),
}
GARMENTS = {"girl": ("dress", "dresses"), "boy": ("shirt", "shirts")}
NUMBERS = {1: "a", 2: "two", 3: "three", 4: "four", 5: "five"}
LOOSE_NUMBERS = {SOME: ("some", ""), SEVERAL: ("several", "at least three")}
SIZES = {"small": ("small", "little"), "large": ("large", "big")}
ACTIONS = {
    "running": ("running", "running along"),
    "sitting": ("sitting", "sitting down"),
    "standing": ("standing", "standing still"),
    "sleeping": ("sleeping", "fast asleep", "taking a nap"),
    "eating": ("eating", "grazing"),
    "flying": ("flying", "flying through the air"),
    "jumping": ("jumping", "jumping up"),
}
PLACES = {
    "park": ("in the park", "in a park"),
    "street": ("on the street", "in the city", "on a city street"),
    "beach": ("on the beach", "at the seaside", "on a sandy beach"),
    "room": ("in a room", "in the living room"),
    "lake": ("at the lake", "at a lake in the mountains"),
    "meadow": ("in a meadow", "on a farm", "out on the farm"),
    "snow": ("in the snow", "on a snowy field"),
    "grass": ("on the grass", "on a patch of grass"),
    "water": ("by the water", "near the water"),
    "outdoors": ("outdoors", "out in the open"),
}
TIMES = {
    "day": ("in the daytime", "on a sunny day"),
    "sunset": ("at sunset", "as the sun goes down"),
    "night": ("at night", "under the stars"),
}
SIDES = {
    "left": ("on the left", "on the left side of the picture"),
    "right": ("on the right", "on the right side of the picture"),
    "middle": ("in the middle", "in the middle of the picture"),
}
RELATIONS = {"left": ("to the left of", "left of"), "right": ("to the right of", "right of")}
NEXT_TO = ("next to", "beside", "near", "close to")


# Sentence patterns. A part that is not in the meaning is empty.
SAYING = (
    "{subject} {action} {near} {place} {when}",
    "{subject} {action} {near} {place} {when}",
    "there {be} {subject} {action} {near} {place} {when}",
    "{opening} {subject} {action} {near} {place} {when}",
)
ACTING = "{subject} {be} {action} {near} {place} {when}"
BEING_SEEN = "{subject} can be seen {near} {place} {when}"
PLACE_FIRST = "{place} there {be} {subject} {action} {near}"
TIME_FIRST = "{when} there {be} {subject} {action} {near}"
OPENINGS = ("a picture of", "a drawing of", "we see", "one can see")


def word(meaning: Meaning, rng: Rng) -> str:
    """Return a sentence with exactly the claims of ``meaning``."""
    frame = pick(rng, _fitting_frames(meaning))
    sentence = " ".join(frame.format(opening=pick(rng, OPENINGS), **_parts(meaning, rng)).split())
    return sentence[0].upper() + sentence[1:] + "."


def _fitting_frames(meaning: Meaning) -> list[str]:
    frames = [*SAYING, ACTING if meaning.subject.action else BEING_SEEN]
    if meaning.place:
        frames.append(PLACE_FIRST)
    if meaning.time:
        frames.append(TIME_FIRST)
    return frames


def _parts(meaning: Meaning, rng: Rng) -> dict[str, str]:
    claim = meaning.subject
    subject, near = _with_companion(meaning, rng)
    return {
        "subject": subject,
        "be": "are" if claim.count[1] > 1 else "is",
        "action": pick(rng, ACTIONS[claim.action]) if claim.action else "",
        "near": pick(rng, SIDES[claim.side]) if claim.side else near,
        "place": pick(rng, PLACES[meaning.place]) if meaning.place else "",
        "when": pick(rng, TIMES[meaning.time]) if meaning.time else "",
    }


def _with_companion(meaning: Meaning, rng: Rng) -> tuple[str, str]:
    """Return the words for the subject, and the words for its companion if they follow after the action."""
    subject = noun_phrase(meaning.subject, rng)
    if meaning.companion is None:
        return subject, ""
    companion = noun_phrase(meaning.companion, rng)
    if meaning.relation:
        return subject, f"{pick(rng, RELATIONS[meaning.relation])} {companion}"
    if meaning.subject.action:
        return subject, f"{pick(rng, NEXT_TO)} {companion}"
    return f"{subject} {pick(rng, ('with', 'beside'))} {companion}", ""


def noun_phrase(claim: Claim, rng: Rng) -> str:
    """Return the words for one group: number, size, colour and noun; for children, the colour of their clothes."""
    plural = claim.count[1] > 1
    words = [pick(rng, SIZES[claim.size])] if claim.size else []
    worn = ""
    if claim.colour and claim.noun in GARMENTS:
        garment = GARMENTS[claim.noun][plural]
        worn = f" in {'' if plural else 'a '}{claim.colour} {garment}"
    elif claim.colour and claim.noun == "child":
        worn = f" dressed in {claim.colour}"
    elif claim.colour:
        words.append(claim.colour)
    words.append(_noun(claim.noun, plural, rng))
    return f"{_number(claim, words[0], rng)} {' '.join(words)}{worn}".lstrip()


def _noun(noun: str, plural: bool, rng: Rng) -> str:
    if noun in COLLECTIVES:
        return COLLECTIVES[noun][plural]
    singular = pick(rng, SYNONYMS.get(noun, (noun,)))
    return PLURALS.get(singular, singular + "s") if plural else singular


def _number(claim: Claim, following: str, rng: Rng) -> str:
    if claim.count in LOOSE_NUMBERS:
        return pick(rng, LOOSE_NUMBERS[claim.count])
    number = NUMBERS[claim.count[0]]
    return "an" if number == "a" and following[0] in "aeiou" else number
