"""The meanings of captions as structured claims, and the choice of five different ones for a scene."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterpart_drawn.scenes import KINDS, MOST, SETTINGS, Group, Scene, pick

# The kinds that a general noun can mean. The names of kinds are nouns too.
GENERAL_NOUNS: dict[str, frozenset[str]] = {
    category: frozenset(name for name, kind in KINDS.items() if kind.category == category)
    for category in ("animal", "child", "vehicle", "toy", "fruit", "furniture")
} | {"pet": frozenset({"dog", "cat"})}

# The settings that a place can mean.
PLACES: dict[str, frozenset[str]] = {setting: frozenset({setting}) for setting in SETTINGS} | {
    "grass": frozenset({"park", "meadow"}),
    "water": frozenset({"beach", "lake"}),
    "outdoors": frozenset(SETTINGS) - {"room"},
}

SOME = (2, MOST)
SEVERAL = (3, MOST)
CAPTIONS_EACH = 5


@dataclass(frozen=True)
class Claim:
    """A claim about one group: a noun, how many (from, to), and optional details; None if not mentioned."""

    noun: str
    count: tuple[int, int]
    colour: str | None = None
    size: str | None = None
    action: str | None = None
    side: str | None = None

    @property
    def is_general(self) -> bool:
        return self.noun in GENERAL_NOUNS


@dataclass(frozen=True)
class Meaning:
    """All claims of a caption. ``relation`` is the side of the companion on which the subject is."""

    subject: Claim
    companion: Claim | None = None
    relation: str | None = None
    place: str | None = None
    time: str | None = None


Rng = np.random.Generator
View = Callable[[Scene, Rng], Meaning]


def denoted(noun: str) -> frozenset[str]:
    """Return the kinds that ``noun`` can mean."""
    return GENERAL_NOUNS.get(noun) or frozenset({noun})


def united(groups: tuple[Group, ...]) -> Group:
    """Return two groups as one ("three animals"): counts added, details kept if they agree (otherwise "")."""
    one, other = groups
    shared = {
        detail: getattr(one, detail) if getattr(one, detail) == getattr(other, detail) else ""
        for detail in ("colour", "size", "action", "side")
    }
    return Group(f"{one.kind}+{other.kind}", one.count + other.count, **shared)


def meanings_of(scene: Scene, rng: Rng) -> list[Meaning]:
    """Return ``CAPTIONS_EACH`` different meanings that are true of ``scene``, some specific and some general."""
    views: list[View] = [_closely, _in_general]
    others = _fitting_views(scene)
    chosen = rng.permutation(len(others))[: CAPTIONS_EACH - len(views)]
    views += [others[i] for i in chosen]
    return [views[i](scene, rng) for i in rng.permutation(CAPTIONS_EACH)]


def _fitting_views(scene: Scene) -> list[View]:
    main = scene.groups[0]
    lone = len(scene.groups) == 1
    views: list[View] = [_plainly]
    if scene.time != "indoors":
        views.append(_at_its_time)
    if lone:
        views.append(_in_its_place)
    else:
        views += [_together, _side_by_side, _companion_first]
    if KINDS[main.kind].category != "child":
        views.append(_by_size)
    if main.count > 1:
        views.append(_loosely)
    return views


def _claim(group: Group, *details: str) -> Claim:
    return Claim(group.kind, (group.count, group.count), **{detail: getattr(group, detail) for detail in details})


def _closely(scene: Scene, rng: Rng) -> Meaning:
    return Meaning(_claim(scene.groups[0], "colour", "action"), place=scene.setting)


def _in_general(scene: Scene, rng: Rng) -> Meaning:
    """Use a hypernym for the main group, or for both groups if they have the same category."""
    main = scene.groups[0]
    category = KINDS[main.kind].category
    if len(scene.groups) == 2 and KINDS[scene.groups[1].kind].category == category:
        together = united(scene.groups)
        return Meaning(Claim(category, (together.count, together.count)), place=_general_place(scene, rng))
    noun = "pet" if main.kind in GENERAL_NOUNS["pet"] and rng.random() < 0.5 else category
    detail = {"colour": main.colour} if main.action is None else {"action": main.action}
    return Meaning(Claim(noun, (main.count, main.count), **detail), place=_general_place(scene, rng))


def _general_place(scene: Scene, rng: Rng) -> str:
    wider = [place for place, settings in PLACES.items() if scene.setting in settings and len(settings) > 1]
    return pick(rng, [scene.setting, *wider])


def _plainly(scene: Scene, rng: Rng) -> Meaning:
    main = scene.groups[0]
    if main.action is not None and rng.random() < 0.4:
        return Meaning(_claim(main, "action"))
    return Meaning(_claim(main), place=scene.setting)


def _at_its_time(scene: Scene, rng: Rng) -> Meaning:
    return Meaning(_claim(scene.groups[0], pick(rng, ("colour", "action"))), time=scene.time)


def _in_its_place(scene: Scene, rng: Rng) -> Meaning:
    return Meaning(_claim(scene.groups[0], "side", "colour"))


def _by_size(scene: Scene, rng: Rng) -> Meaning:
    details = ("size", "colour") if rng.random() < 0.6 else ("size", "action")
    return Meaning(_claim(scene.groups[0], *details))


def _loosely(scene: Scene, rng: Rng) -> Meaning:
    main = scene.groups[0]
    count = SEVERAL if main.count >= SEVERAL[0] else SOME
    return Meaning(Claim(main.kind, count, colour=main.colour), place=_general_place(scene, rng))


def _together(scene: Scene, rng: Rng) -> Meaning:
    main, companion = scene.groups
    if rng.random() < 0.5:
        return Meaning(_claim(main), _claim(companion), place=scene.setting)
    return Meaning(_claim(main, "action"), _claim(companion, "colour"))


def _side_by_side(scene: Scene, rng: Rng) -> Meaning:
    main, companion = scene.groups
    return Meaning(_claim(main, "colour"), _claim(companion), relation=main.side)


def _companion_first(scene: Scene, rng: Rng) -> Meaning:
    details = ("colour", "action") if rng.random() < 0.5 else ("colour",)
    return Meaning(_claim(scene.groups[1], *details), place=scene.setting)
