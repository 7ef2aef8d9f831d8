"""The check-box task of Hodosh, Young and Hockenmaier (2013, section 4.3.2): six images with ten captions each. One of
the images is a control, with one to three of its own captions among captions that no annotator finds. Work counts while
its worker has 70% of the answers to controls right."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from hits.controls import Unlisted, original_pairs, unlisted_pairs
from hits.packing.dealing import draw_outside
from hits.packing.designs import Design
from hits.packing.plan import NEGATIVE, POSITIVE, ROLES, Codes, Items, Plan
from hits.pair_plans import PlanRequest, positive_controls
from hits.question import Level, Wording
from hits.task_types.task_type import Pooled, TaskType

CAPTIONS = 10
ASKED = 5  # images of a HIT that are asked about
MOST_TRUE = 3  # true captions of a control
DESIGN = Design("checkbox-6x10", candidates=ASKED * CAPTIONS, positives=1, negatives=CAPTIONS - 1)

YES = ROLES.index(POSITIVE)
NO = ROLES.index(NEGATIVE)
Box = list[tuple[int, int, int]]
"""The image, caption and role of the items of one screen."""


def plan_boxes(request: PlanRequest) -> Plan:
    """Pack the pairs by image: ten captions a screen, six screens a HIT, the last one a control until
    the screens are shuffled.

    The captions of an image are filled up to a multiple of ten with others of the gallery, drawn at random: candidates
    too, as in the paper. An image is twice in a HIT only where it has more screens than there are HITs, whatever
    the request's ``sharing`` is. The last HIT is filled up with controls.
    """
    pool = request.pool
    sides = request.sides
    avoided = request.avoided
    streams = np.random.default_rng(request.seed).spawn(4)
    request.progress("filling HITs", 0, None)
    originals = original_pairs(pool.sample, sides)
    gallery = sides.captions.known(pool.collection.captions.gallery().values_list("pk", flat=True))
    fit = np.setdiff1d(gallery, avoided.captions)
    boxes = list(_boxes(request.pairs, originals, fit, streams[0]))
    hits = _spread(boxes, streams[1])
    request.progress("dealing controls", 0, None)
    asked = np.array([row[:2] for box in boxes for row in box], np.int64)
    unlisted = unlisted_pairs(pool, sides, known=np.concatenate([originals, asked]), avoided=avoided)
    _add_controls(hits, _Controls(positive_controls(originals, sides, avoided), unlisted, streams[2]))
    order = streams[3].permutation
    rows = [
        (number, *hit[box][row])
        for number, hit in enumerate(hits)
        for box in order(len(hit)).tolist()
        for row in order(CAPTIONS).tolist()
    ]
    items = Items(*np.array(rows, np.int64).T)
    places = np.arange(len(rows)) % request.design.size + 1
    padded = len(asked) - len(request.pairs)
    return Plan(sides, request.design, request.seed, items, places, padded=padded)


def hits_of_boxes(pooled: Pooled, design: Design) -> int:
    """Return how many HITs ask about the captions of every image, filled up to a multiple of ten."""
    boxes = int(np.ceil(pooled.captions_of_image() / CAPTIONS).sum())
    return ceil(boxes / ASKED)


def _boxes(
    pairs: NDArray[np.int64], originals: NDArray[np.int64], gallery: Codes, rng: np.random.Generator
) -> Iterator[Box]:
    """Yield the captions of each image, ten at a time in random order, the last ten filled up from the gallery."""
    ordered = rng.permutation(pairs)
    taken: dict[int, set[int]] = defaultdict(set)
    for image, caption in np.concatenate([ordered, originals]).tolist():
        taken[image].add(caption)
    asked: dict[int, list[int]] = defaultdict(list)
    for image, caption in ordered.tolist():
        asked[image].append(caption)
    for image, captions in sorted(asked.items()):
        used = np.flatnonzero(np.isin(gallery, list(taken[image])))
        missing = -len(captions) % CAPTIONS
        captions += gallery[draw_outside(used, len(gallery), missing, rng)].tolist()
        if len(captions) % CAPTIONS:
            raise CounterpartError(
                f"The gallery has too few captions to ask about {CAPTIONS} with each image. Import a larger collection."
            )
        for start in range(0, len(captions), CAPTIONS):
            yield [(image, caption, 0) for caption in captions[start : start + CAPTIONS]]


def _spread(boxes: list[Box], rng: np.random.Generator) -> list[list[Box]]:
    """Deal the boxes to HITs of five, the last one may have fewer; those of one image go to different HITs where
    there are enough. Images of many boxes come first, each box to the emptiest HIT without its image."""
    n_hits = ceil(len(boxes) / ASKED)
    room = [ASKED] * (n_hits - 1) + [len(boxes) - ASKED * (n_hits - 1)]
    hits: list[list[Box]] = [[] for _ in room]
    shown: list[set[int]] = [set() for _ in room]
    frequency = Counter(box[0][0] for box in boxes)
    for number in sorted(rng.permutation(len(boxes)).tolist(), key=lambda box: -frequency[boxes[box][0][0]]):
        image = boxes[number][0][0]
        hit = max((hit for hit in range(n_hits) if room[hit]), key=lambda hit: (image not in shown[hit], room[hit]))
        hits[hit].append(boxes[number])
        shown[hit].add(image)
        room[hit] -= 1
    return hits


class _Controls:
    """Images with captions whose answers are known, in random order; one comes again only after all others."""

    def __init__(self, positives: NDArray[np.int64], unlisted: Unlisted, rng: np.random.Generator) -> None:
        self._own: dict[int, list[int]] = defaultdict(list)
        for image, caption in positives[np.isin(positives[:, 0], unlisted.images)].tolist():
            self._own[image].append(caption)
        self._next = deque(rng.permutation(sorted(self._own)).tolist())
        self._unlisted = unlisted
        self._rng = rng

    def deal(self, shown: set[int]) -> Box | None:
        """Return the box of an image that is not ``shown``: one to three of its own captions, and others that no
        annotator finds. None where no image has enough."""
        for image in list(self._next):
            own = self._own[image]
            true = self._rng.choice(own, self._rng.integers(1, min(MOST_TRUE, len(own)) + 1), replace=False).tolist()
            false = self._unlisted.captions_of(image, CAPTIONS - len(true), self._rng).tolist()
            if image in shown or len(true) + len(false) < CAPTIONS:
                continue
            self._next.remove(image)
            self._next.append(image)
            return [(image, caption, YES) for caption in true] + [(image, caption, NO) for caption in false]
        return None


def _add_controls(hits: list[list[Box]], controls: _Controls) -> None:
    """Fill every HIT up with controls, one of them at least."""
    for number, hit in enumerate(hits, 1):
        while len(hit) <= ASKED:
            box = controls.deal({dealt[0][0] for dealt in hit})
            if box is None:
                raise CounterpartError(
                    f"Not enough controls for HIT {number}: no other image of the queries has a caption of its own and "
                    f"{CAPTIONS - 1} that no annotator finds. Use a larger query sample, or a smaller --control-depth."
                )
            hit.append(box)


CHECKBOX = TaskType(
    name="checkbox",
    label="check boxes, ten captions of a picture at a time",
    title="Which sentences describe the picture?",
    lead="You see {n} pictures, one after the other, each with ten sentences. Tick every sentence that describes the "
    "picture.",
    keywords="image, caption, text, choose, tick",
    screen=("picture", "pictures"),
    labels={Level.YES: "ticked", Level.NO: "not ticked"},
    keys={Level.YES: "", Level.NO: ""},
    scale="ticked or not",
    wordings={
        1: Wording(
            levels={
                Level.YES: "The sentence describes the picture. Small mistakes are fine, such as a wrong number or a "
                "detail that cannot be seen. It need not mention everything.",
                Level.NO: "The sentence describes something else, or only some part of the picture, so that it could "
                "not stand as its description.",
            },
        )
    },
    plan=plan_boxes,
    count_hits=hits_of_boxes,
    design=DESIGN,
    replication=3,
    passing=Fraction(7, 10),
    group=CAPTIONS,
    unticked=Level.NO,
    mean_of={Level.YES: 1.0},
    score_label="share of yes",
)
