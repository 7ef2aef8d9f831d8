"""Which of two rankings is better? The study of ECCV Caption, appendix D.1: five made rankings of the images of 40
captions with 5 to 8 positives, all ten pairs of rankings, eight people each: 3,200 preferences."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from django.db.models import Q

from core.errors import CounterpartError
from corpus.models import Match
from hits.packing.designs import Design
from hits.packing.plan import NONE, Items, Plan, Sides
from hits.pair_plans import PlanRequest
from hits.question import Level, Wording
from hits.task_types.task_type import TaskType

CAPTIONS = 40
FEWEST = 5
MOST = 8
SYSTEMS = {
    "A": "only top-1 is wrong",
    "B": "only top-1 is correct",
    "C": "top-1 to 5 are wrong",
    "D": "only top-5 is correct",
    "E": "all items are wrong",
}
QUESTIONS = list(combinations(SYSTEMS, 2))
LEFT = Level.YES  # stored as 1, although the better side is not a level of a pair
RIGHT = Level.PARTIALLY_YES  # stored as 2


def made_rankings(positives: Sequence[int], wrong: Sequence[int]) -> dict[str, list[int]]:
    """Return the five rankings of as many images as a caption has ``positives``; ``wrong`` are as many others. With
    five positives C is E, as in the paper.

    >>> made_rankings([1, 2, 3, 4, 5, 6], [-1, -2, -3, -4, -5, -6])["D"]
    [-1, -2, -3, -4, 5, -6]
    """
    is_right = {
        "A": lambda rank: rank > 1,
        "B": lambda rank: rank == 1,
        "C": lambda rank: rank > 5,
        "D": lambda rank: rank == 5,
        "E": lambda rank: False,
    }
    both = list(zip(positives, wrong, strict=True))
    return {
        name: [right if is_right_at(rank) else other for rank, (right, other) in enumerate(both, 1)]
        for name, is_right_at in is_right.items()
    }


def plan_preferences(request: PlanRequest) -> Plan:
    """Ask every pair of rankings of 40 captions, drawn from those with 5 to 8 images by the match source ``positives``,
    in ten HITs: each has all captions once, with different pairs. Left and right are at random.

    A wrong image is one of the gallery that no source matches with the caption and no annotator proposes for it.
    """
    pool = request.pool
    sides = request.sides
    positives = request.positives
    request.progress("drawing captions", 0, None)
    rng = np.random.default_rng(request.seed)
    is_match = Q(source=positives) & (
        Q(score=None) | Q(score__gt=0)
    )  # a version also holds its negatives, with score 0
    matched = _images_by_caption(Match.objects.filter(is_match, collection=pool.collection), sides)
    avoidable = set(request.avoided.captions.tolist())
    fit = sorted(code for code, images in matched.items() if FEWEST <= len(images) <= MOST and code not in avoidable)
    if len(fit) < CAPTIONS:
        raise CounterpartError(
            f"The source {positives} has {len(fit)} captions with {FEWEST} to {MOST} images, fewer than the {CAPTIONS} "
            "of the study. Use a version with more matches as --positives."
        )
    captions = sorted(rng.choice(fit, CAPTIONS, replace=False).tolist())
    known = _images_by_caption(Match.objects.filter(collection=pool.collection), sides)
    for image, caption in request.pairs.tolist():
        known[caption].add(image)
    gallery = set(sides.images.codes(list(pool.collection.images.gallery().values_list("pk", flat=True))).tolist())
    rankings = [_rankings(matched[caption], sorted(gallery - known[caption]), rng) for caption in captions]
    rows = []
    contents = []
    for hit in range(len(QUESTIONS)):
        for number, caption in enumerate(captions):
            systems = rng.permutation(QUESTIONS[(hit + number) % len(QUESTIONS)]).tolist()
            rows.append((hit, NONE, caption, 0))
            contents.append({"systems": systems, "rankings": [rankings[number][name] for name in systems]})
    items = Items(*np.array(rows, np.int64).T)
    places = np.arange(len(rows)) % request.design.size + 1
    return Plan(sides, request.design, request.seed, items, places, contents=contents)


def _images_by_caption(matches: Any, sides: Sides) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for image, caption in sides.pair_codes(matches.values_list("image_id", "caption_id")).tolist():
        found[caption].add(image)
    return found


def _rankings(positives: set[int], others: list[int], rng: np.random.Generator) -> Mapping[str, list[int]]:
    if len(others) < len(positives):
        raise CounterpartError(
            f"Only {len(others)} images of the gallery are wrong for a caption, and {len(positives)} are needed. Use a "
            "larger collection."
        )
    right = rng.permutation(sorted(positives)).tolist()
    return made_rankings(right, rng.choice(others, len(right), replace=False).tolist())


PREFERENCE = TaskType(
    name="preference",
    label="which of two rankings of pictures is better",
    title="Which pictures fit the sentence better?",
    lead="You see {n} sentences, one after the other, each with two lists of pictures that two search engines found "
    "for it, the first result first. For each sentence you say which list looks more correct.",
    keywords="image, search, sentence, compare, choose",
    screen=("question", "questions"),
    labels={LEFT: "The left list", RIGHT: "The right list"},
    scale="left or right",
    wordings={
        1: Wording(
            levels={
                LEFT: "The left list looks more correct: more of its pictures fit the sentence, and sooner.",
                RIGHT: "The right list looks more correct. If they are close, choose the one that you like more.",
            },
        )
    },
    plan=plan_preferences,
    count_hits=lambda pooled, design: len(QUESTIONS),
    usual_minutes=(10, 20),
    on_pairs=False,
    no_picture="A picture does not load",
    read_by="analyse preference",
    from_matches=True,
    design=Design("preference-40", candidates=CAPTIONS, positives=0, negatives=0),
    replication=8,
)
