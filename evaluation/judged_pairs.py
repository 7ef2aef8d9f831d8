"""The judged pairs of a version as arrays: who proposed them, and where the annotators rank them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from django import forms
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.parameters import POSITIONAL, Option, Parameters
from corpus.matches import sources_of
from corpus.models import Match
from counterpart_metrics import Found, Qrels, Rankings, find
from dataset.models import Version
from dataset.version_files import load_pairs
from hits.question import Level
from mitl.models import Direction, Proposal, Retrieval
from mitl.search.gallery import load_lists

WEIGHTS = {Level.YES: 1.0, Level.PARTIALLY_YES: 0.5, Level.MOSTLY_NO: 0.0, Level.NO: 0.0}
"""The gain of a judged pair by its level (ECCV Caption, equation E.4). Matches of merged sources play no part in it;
docs/metrics.md tells their gain in exported versions."""

Ids = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class JudgedVersionParameters(Parameters):
    """A version, and the source of all its matches where that is known."""

    name: Annotated[str, "a released version with rounds", POSITIONAL, Option(metavar="VERSION")]
    truth: Annotated[
        str | None,
        forms.CharField(
            required=False, empty_value=None, help_text="compare with all matches of this source, if they are known"
        ),
        Option(metavar="SOURCE"),
    ] = None


@dataclass(frozen=True)
class JudgedPairs:
    """The judged pairs of the queries of one direction, by query and item.

    Attributes:
        annotators: names of the A annotators behind the version's rounds.
        levels: (E,) levels 1 to 4, a reviewer's before the votes'.
        qrels: the pairs with the gains of ``WEIGHTS``; all queries of the version, also without a pair.
        proposed: (E, A), whether the annotator proposed the pair, in whichever direction.
        rankings: each annotator's lists, to their depth.
    """

    annotators: tuple[str, ...]
    levels: Ids
    qrels: Qrels
    proposed: NDArray[np.bool_]
    rankings: Mapping[str, Rankings]

    @cached_property
    def found(self) -> dict[str, Found]:
        """Where each annotator ranks the pairs."""
        return {name: find(rankings, self.qrels) for name, rankings in self.rankings.items()}


def load_judged_pairs(version: Version) -> dict[Direction, JudgedPairs]:
    """Return the judged pairs of each direction that has any.

    Raises CounterpartError for a version without rounds or judged pairs, and if files are missing or were changed.
    """
    retrievals = Retrieval.objects.filter(pools__rounds__versions=version).select_related("annotator").distinct()
    latest = {retrieval.annotator.name: retrieval for retrieval in retrievals.order_by("annotator__name", "id")}
    images, captions, levels = _judged(version)
    if not latest or not len(levels):
        raise CounterpartError(
            f"Version {version} has no pairs that annotators proposed and people judged. Choose one with rounds."
        )
    lists = {name: load_lists(retrieval) for name, retrieval in latest.items()}
    proposed = _proposed(version, images, captions, list(latest))
    queries = queries_of(version)
    judged = {}
    for direction, (asking, items) in {
        Direction.IMAGE_TO_CAPTION: (images, captions),
        Direction.CAPTION_TO_IMAGE: (captions, images),
    }.items():
        kept = np.flatnonzero(np.isin(asking, queries[direction]))
        kept = kept[np.lexsort((items[kept], asking[kept]))]
        if not len(kept) or any(direction not in one for one in lists.values()):
            continue
        gains = np.array([WEIGHTS[Level(level)] for level in levels[kept].tolist()])
        judged[direction] = JudgedPairs(
            tuple(latest),
            levels[kept],
            Qrels.of_pairs(asking[kept], items[kept], gains, every=queries[direction]),
            proposed[kept],
            {
                name: Rankings(one[direction].queries, np.where(one[direction].items, one[direction].items, -1))
                for name, one in lists.items()
            },
        )
    return judged


def true_qrels(version: Version, source: str, direction: Direction) -> Qrels:
    """Return all matches of a source between the version's queries and the gallery, with the gains of their levels (1
    for a match without a level).

    Raises CounterpartError for a source without matches on them.
    """
    matches = Match.objects.filter(collection=version.collection, source=source).order_by()
    rows = np.array(list(matches.values_list("image", "caption", "grade")), float).reshape(-1, 3)
    asking, items = (0, 1) if direction == Direction.IMAGE_TO_CAPTION else (1, 0)
    queries = queries_of(version)[direction]
    gallery = version.collection.captions if direction == Direction.IMAGE_TO_CAPTION else version.collection.images
    searched = list(gallery.gallery().values_list("pk", flat=True))
    rows = rows[np.isin(rows[:, asking], queries) & np.isin(rows[:, items], searched)]
    if not len(rows):
        known = ", ".join(sources_of(version.collection))
        raise CounterpartError(f"Source {source!r} has no matches on the queries of {version}. Sources: {known}.")
    gains = [1.0 if np.isnan(grade) else WEIGHTS[Level(int(grade))] for grade in rows[:, 2]]
    return Qrels.of_pairs(rows[:, asking].astype(np.int64), rows[:, items].astype(np.int64), gains, every=queries)


def queries_of(version: Version) -> dict[Direction, Ids]:
    """Return the ids of the version's queries in each direction, without excluded ones, ascending."""
    sample, manifest = version.sample, version.manifest
    images = sample.images.exclude(key__in=manifest.get("excluded_images", []))
    captions = sample.captions.exclude(key__in=manifest["excluded_captions"])
    return {
        Direction.IMAGE_TO_CAPTION: np.array(sorted(images.values_list("pk", flat=True)), np.int64),
        Direction.CAPTION_TO_IMAGE: np.array(sorted(captions.values_list("pk", flat=True)), np.int64),
    }


def _judged(version: Version) -> tuple[Ids, Ids, Ids]:
    """Return image, caption and level of the pairs that have a level."""
    images = dict(version.collection.images.values_list("key", "pk"))
    captions = dict(version.collection.captions.values_list("key", "pk"))
    rows = [
        (images[row.image], captions[row.caption], int(row.level))
        for row in load_pairs(version)
        if row.level and row.image in images and row.caption in captions
    ]
    table = np.array(rows, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _proposed(version: Version, images: Ids, captions: Ids, annotators: list[str]) -> NDArray[np.bool_]:
    """Return (E, A): whether each annotator proposed the pair for a round of the version."""
    place = {pair: row for row, pair in enumerate(zip(images.tolist(), captions.tolist(), strict=True))}
    column = {name: number for number, name in enumerate(annotators)}
    flags = np.zeros((len(images), len(annotators)), bool)
    rows = Proposal.objects.filter(pool__rounds__versions=version).order_by()
    for image, caption, name in rows.values_list("image", "caption", "annotator__name").iterator(chunk_size=20_000):
        if (image, caption) in place and name in column:
            flags[place[image, caption], column[name]] = True
    return flags
