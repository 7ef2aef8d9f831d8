"""Grades: the exact level of any caption for any scene, computed from the number of wrong claims.

A caption's *faults* for a scene are counted as follows:

- Its subject is compared with each group of the scene, and with both groups as one ("three animals" are a
  dog and two cats). A group of another kind but the same category ("a dog" for a cat) is 2 faults; of another
  category, 3.
- Each wrong detail of the subject (colour, size, action, side of the picture) is 1 fault.
  A number off by one is 1 fault, by more 2; "some" means two or more, "several" three or more.
- A companion ("... with a red ball") is compared with the other group in the same way, but costs at most 2: a
  group of the same category 1 fault, none or one of another category 2, each wrong detail or number as above.
  A wrong relation ("to the left of") is 1 fault, within those 2.
- A wrong place and a wrong time of day are 1 fault each. Places may be wide ("outdoors").
- A general subject ("an animal") claims little: if there is any fault, one more is added.
- The reading with the fewest faults counts. Things in the picture that the caption does not mention are no fault.

The level is 1 (all right) without faults, 2 (a detail wrong) at one, 3 (the main thing wrong, or two details)
at two, 4 (unrelated) at three or more.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterpart_drawn.meanings import PLACES, Claim, Meaning, denoted, united
from counterpart_drawn.scenes import KINDS, SETTINGS, SIDES, SIZES, TIMES, Group, Scene

Ints = NDArray[np.int64]
Levels = NDArray[np.int8]

DETAILS = ("colour", "size", "action", "side")
MANY_FAULTS = 9
BLOCK = 1024  # captions graded at once; a block against 1,000 scenes takes about 100 MB

_KIND_BIT = {name: 1 << place for place, name in enumerate(KINDS)}
_SETTING_BIT = {name: 1 << place for place, name in enumerate(SETTINGS)}
_COLOURS = {colour for kind in KINDS.values() for colour in kind.colours}
_ACTIONS = {action for kind in KINDS.values() for action in kind.actions}
_WORDS = (*sorted(_COLOURS | _ACTIONS), *SIZES, *SIDES, *TIMES)
# Not mentioned (None) is 0, no common value ("") is -1.
_CODE: dict[str | None, int] = {None: 0, "": -1} | {word: code for code, word in enumerate(_WORDS, 1)}


def grade(meaning: Meaning, scene: Scene) -> int:
    """Return the level, 1-4, of one caption for one scene."""
    return int(grades([meaning], [scene])[0, 0])


def grades(meanings: Sequence[Meaning], scenes: Sequence[Scene]) -> Levels:
    """Return the levels, 1-4, of every caption for every scene: int8 (captions, scenes)."""
    table = _SceneTable(scenes)
    worst = [np.minimum(_faults(meanings[start : start + BLOCK], table), 3) for start in range(0, len(meanings), BLOCK)]
    blocks = [(1 + faults).astype(np.int8) for faults in worst]
    return np.concatenate(blocks) if blocks else np.empty((0, len(scenes)), dtype=np.int8)


class _SceneTable:
    """Scenes as arrays. ``kinds``, ``count`` and each of ``details`` are (scenes, 3): the first group, the second,
    and both as one; ``kinds`` is a bit set, 0 for a missing group."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        slots = [_slots(scene) for scene in scenes]
        kinds = [[group.kind.split("+") if group else [] for group in row] for row in slots]
        self.kinds = np.array([[_bits(_KIND_BIT, names) for names in row] for row in kinds])
        self.count = np.array([[group.count if group else 0 for group in row] for row in slots])
        self.details = {
            name: np.array([[_CODE[getattr(group, name)] if group else 0 for group in row] for row in slots])
            for name in DETAILS
        }
        self.setting = np.array([_SETTING_BIT[scene.setting] for scene in scenes])
        self.time = np.array([_CODE[scene.time] for scene in scenes])


def _slots(scene: Scene) -> tuple[Group | None, Group | None, Group | None]:
    if len(scene.groups) == 1:
        return scene.groups[0], None, None
    return scene.groups[0], scene.groups[1], united(scene.groups)


def _bits(table: dict[str, int], names: Sequence[str] | frozenset[str]) -> int:
    return sum(table[name] for name in names)


def _faults(meanings: Sequence[Meaning], scenes: _SceneTable) -> Ints:
    """Return the faults of the best reading: int (captions, scenes)."""
    subjects = [meaning.subject for meaning in meanings]
    fits, related = _kinship(subjects, scenes)
    faults = _wrong_details(subjects, scenes) + np.where(fits, 0, np.where(related, 2, MANY_FAULTS))
    faults += _companion_faults(meanings, scenes)
    faults += _background_faults(meanings, scenes)[:, :, None]
    general = np.array([subject.is_general for subject in subjects])
    faults += (faults > 0) & general[:, None, None]
    return faults.min(axis=2)


def _kinship(claims: Sequence[Claim], scenes: _SceneTable) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each group fits the noun, and whether it is of the noun's category: (captions, scenes, 3)."""
    noun = np.array([_bits(_KIND_BIT, denoted(claim.noun)) for claim in claims])[:, None, None]
    category = np.array([_bits(_KIND_BIT, _category(claim.noun)) for claim in claims])[:, None, None]
    present = scenes.kinds > 0
    return present & (scenes.kinds & ~noun == 0), present & (scenes.kinds & ~category == 0)


def _category(noun: str) -> frozenset[str]:
    category = KINDS[min(denoted(noun))].category
    return denoted(category)


def _wrong_details(claims: Sequence[Claim], scenes: _SceneTable) -> Ints:
    """Return the faults in number and details of each group, if it were the subject: (captions, scenes, 3)."""
    low = np.array([claim.count[0] for claim in claims])[:, None, None]
    high = np.array([claim.count[1] for claim in claims])[:, None, None]
    wrong = np.clip(np.maximum(low - scenes.count, scenes.count - high), 0, 2)
    for name, shown in scenes.details.items():
        said = np.array([_CODE[getattr(claim, name)] for claim in claims])[:, None, None]
        wrong += (said != 0) & (said != shown)
    return wrong


def _companion_faults(meanings: Sequence[Meaning], scenes: _SceneTable) -> Ints:
    """Return the faults of the companions for each choice of the subject: (captions, scenes, 3)."""
    faults = np.zeros((len(meanings), *scenes.kinds.shape), dtype=np.int64)
    saying = np.array([row for row, meaning in enumerate(meanings) if meaning.companion], dtype=np.int64)
    if not saying.size:
        return faults
    companions = [companion for meaning in meanings if (companion := meaning.companion)]
    fits, related = _kinship(companions, scenes)
    cost = _wrong_details(companions, scenes) + np.where(fits, 0, np.where(related, 1, 2))
    said = np.array([_CODE[meanings[row].relation] for row in saying])[:, None, None]
    # One fault more if the subject is on another side of its companion than the caption claims.
    cost = cost[:, :, [1, 0, 2]] + ((said != 0) & (said != scenes.details["side"]))
    cost[:, :, 2] = 2  # both groups are the subject, without a companion
    faults[saying] = np.minimum(cost, 2)
    return faults


def _background_faults(meanings: Sequence[Meaning], scenes: _SceneTable) -> Ints:
    """Return the number of wrong places and times: (captions, scenes)."""
    anywhere = frozenset(SETTINGS)
    places = [PLACES[meaning.place] if meaning.place else anywhere for meaning in meanings]
    allowed = np.array([_bits(_SETTING_BIT, place) for place in places])[:, None]
    time = np.array([_CODE[meaning.time] for meaning in meanings])[:, None]
    return (scenes.setting & allowed == 0).astype(np.int64) + ((time != 0) & (time != scenes.time))
