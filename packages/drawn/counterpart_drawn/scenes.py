"""The grammar of scenes: what a demo picture can show, and how random scenes vary a few recurring motifs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Choice = TypeVar("Choice")

SIZES = ("small", "large")
SIDES = ("left", "middle", "right")
TIMES = ("day", "sunset", "night", "indoors")
SETTINGS = ("park", "street", "beach", "room", "lake", "meadow", "snow")
MOST = 4  # objects in a group


@dataclass(frozen=True)
class ObjectKind:
    """A kind of object: its category, its possible colours and actions."""

    name: str
    category: str
    colours: tuple[str, ...]
    actions: tuple[str, ...] = ()


KINDS = {
    kind.name: kind
    for kind in (
        ObjectKind("dog", "animal", ("brown", "black", "white"), ("running", "sitting", "standing", "sleeping")),
        ObjectKind(
            "cat", "animal", ("orange", "black", "gray", "white"), ("sleeping", "sitting", "standing", "running")
        ),
        ObjectKind("horse", "animal", ("brown", "white", "black"), ("standing", "eating", "running")),
        ObjectKind("bird", "animal", ("blue", "yellow", "red"), ("flying", "standing")),
        ObjectKind("girl", "child", ("red", "yellow", "blue", "pink"), ("jumping", "standing", "running")),
        ObjectKind("boy", "child", ("blue", "red", "green", "yellow"), ("running", "standing", "jumping")),
        ObjectKind("car", "vehicle", ("red", "blue", "yellow", "green")),
        ObjectKind("bus", "vehicle", ("yellow", "red", "blue")),
        ObjectKind("bicycle", "vehicle", ("red", "green", "blue")),
        ObjectKind("boat", "vehicle", ("white", "red", "blue")),
        ObjectKind("ball", "toy", ("red", "blue", "yellow")),
        ObjectKind("balloon", "toy", ("red", "yellow", "blue", "pink")),
        ObjectKind("apple", "fruit", ("red", "green", "yellow")),
        ObjectKind("banana", "fruit", ("yellow", "green")),
        ObjectKind("chair", "furniture", ("brown", "red", "blue")),
        ObjectKind("sofa", "furniture", ("green", "red", "blue", "gray")),
    )
}


@dataclass(frozen=True)
class Group:
    """One to ``MOST`` objects of one kind, with the same look and action, together on one side of the picture."""

    kind: str
    count: int
    colour: str
    size: str
    action: str | None
    side: str


@dataclass(frozen=True)
class Scene:
    """All facts of a picture that captions can mention: one or two groups, a setting, a time of day."""

    setting: str
    time: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Motif:
    """A recurring subject: scenes of one motif differ only in details, so a caption can fit several of them."""

    setting: str
    kind: str
    companions: tuple[str, ...]
    turn: int = 0  # index of the kind's most frequent colour and action


# Ordered by frequency: the weight of a motif falls with its rank.
MOTIFS = (
    Motif("park", "dog", ("ball", "girl", "boy")),
    Motif("street", "car", ("bus", "bicycle", "dog")),
    Motif("room", "cat", ("sofa", "ball", "chair")),
    Motif("beach", "girl", ("ball", "dog", "boy")),
    Motif("meadow", "horse", ("bird", "dog", "boy")),
    Motif("lake", "boat", ("bird", "girl")),
    Motif("snow", "boy", ("dog", "girl"), turn=1),
    Motif("room", "apple", ("banana", "cat")),
    Motif("street", "bus", ("car", "boy", "bicycle")),
    Motif("park", "balloon", ("girl", "boy")),
    Motif("beach", "dog", ("ball", "boat"), turn=1),
    Motif("park", "bicycle", ("girl", "dog")),
    Motif("meadow", "bird", ("apple", "horse")),
    Motif("room", "sofa", ("chair", "dog", "cat")),
    Motif("beach", "boat", ("boy", "bird"), turn=1),
    Motif("snow", "dog", ("boy", "ball"), turn=2),
    Motif("lake", "bird", ("boat", "chair"), turn=1),
    Motif("park", "girl", ("boy", "balloon"), turn=1),
)
MOTIF_DECAY = 0.6
COUNT_SHARES = (0.5, 0.27, 0.15, 0.08)
COMPANION_SHARE = 0.6
TIME_SHARES = (0.68, 0.12, 0.2, 0.0)


def sample_scenes(count: int, seed: int) -> list[Scene]:
    """Return ``count`` scenes. Equal arguments give equal scenes; a smaller ``count`` gives the first of them."""
    rng = np.random.default_rng([seed, 0])
    weights = falling(len(MOTIFS), MOTIF_DECAY)
    return [_scene(MOTIFS[rng.choice(len(MOTIFS), p=weights)], rng) for _ in range(count)]


def falling(n: int, decay: float) -> np.ndarray:
    """Return ``n`` shares that fall with rank as 1 / rank ** decay (Zipf) and sum to one."""
    weights = 1.0 / np.arange(1, n + 1) ** decay
    return weights / weights.sum()


def pick(rng: np.random.Generator, choices: Sequence[Choice]) -> Choice:
    """Return one of ``choices``, with equal probability."""
    return choices[int(rng.integers(len(choices)))]


def _scene(motif: Motif, rng: np.random.Generator) -> Scene:
    time = "indoors" if motif.setting == "room" else str(rng.choice(TIMES, p=TIME_SHARES))
    if rng.random() >= COMPANION_SHARE:
        side = str(rng.choice(SIDES, p=(0.25, 0.5, 0.25)))
        return Scene(motif.setting, time, (_group(motif.kind, motif.turn, MOST, side, rng),))
    sides = ("left", "right") if rng.random() < 0.5 else ("right", "left")
    companion = motif.companions[rng.choice(len(motif.companions), p=falling(len(motif.companions), 1.0))]
    groups = (_group(motif.kind, motif.turn, 3, sides[0], rng), _group(companion, 0, 2, sides[1], rng))
    return Scene(motif.setting, time, groups)


def _group(kind: str, turn: int, at_most: int, side: str, rng: np.random.Generator) -> Group:
    shares = np.array(COUNT_SHARES[:at_most])
    count = 1 + int(rng.choice(at_most, p=shares / shares.sum()))
    size = "large" if count <= 2 and rng.random() < 0.6 else "small"
    return Group(kind, count, _favoured(KINDS[kind].colours, turn, rng), size, _action(kind, turn, rng), side)


def _action(kind: str, turn: int, rng: np.random.Generator) -> str | None:
    actions = KINDS[kind].actions
    return _favoured(actions, turn, rng) if actions else None


def _favoured(choices: tuple[str, ...], turn: int, rng: np.random.Generator) -> str:
    """Choose with Zipf's weights; number ``turn`` is the most likely."""
    rank = rng.choice(len(choices), p=falling(len(choices), 1.2))
    return choices[(rank + turn) % len(choices)]
