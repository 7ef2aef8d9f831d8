"""Format ``judgments-csv``, that of ECCV Caption's raw annotations: a row per proposal and counted judgment."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.progress import tracked
from counterpart_statistics.pair_codes import pair_codes
from dataset.exports.exported_tables import judgment_batches
from dataset.exports.specification import Export, Format
from hits.question import Level, Shortcoming, WrongWay
from mitl.models import Pool, Proposal

COLUMNS = ("model", "ranking", "score", "cid", "iid", "annotation", "shortcoming", "shortcoming2")

Keys = Mapping[str, int]
"""Ids of images or captions by their keys."""

_READ = ("round", "control", "counted", "image", "caption", "level", "shortcoming", "wrong_way")
_AT_ONCE = 10_000  # proposals
_SPECIAL = re.compile(r'[",\r\n]')
_SHORTCOMINGS = ("", *Shortcoming.values)
_WRONG_WAYS = ("", *WrongWay.values)
# The end of a line for every answer there is, by level, shortcoming and wrong way.
_ENDS = [f",{level},{one},{other}\n" for level in (0, *Level.values) for one in _SHORTCOMINGS for other in _WRONG_WAYS]


class CodedVotes(NamedTuple):
    """Judgments in a few bytes each, sorted by ``pairs``: the database ids of image and caption in one number."""

    pairs: NDArray[np.int64]
    answers: NDArray[np.int16]  # numbers in _ENDS


def write_judgments_csv(export: Export) -> None:
    """Write ``<version>_judgments.csv``, ordered by annotator, direction, query and rank.

    ``ranking`` counts from 1, ``annotation`` is the level 1-4, ``shortcoming2`` is what the caption describes in a
    wrong way. A pair that an annotator proposed in both directions has a row for each. The judgments are those that
    counted at the release. Raises CounterpartError for a version without rounds.
    """
    export.require_rounds()
    rounds: dict[Pool, list[str]] = {}
    for round in export.version.rounds.select_related("pool").order_by("name"):
        rounds.setdefault(round.pool, []).append(round.name)
    images = dict(export.version.collection.images.values_list("key", "pk"))
    captions = dict(export.version.collection.captions.values_list("key", "pk"))
    with (export.folder / f"{export.version.name}_judgments.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        for pool, names in rounds.items():
            votes = _votes(export, names, images, captions)
            file.writelines(_texts(export, pool, votes, _as_cells(images), _as_cells(captions)))


def _votes(export: Export, rounds: Sequence[str], images: Keys, captions: Keys) -> CodedVotes:
    """Return the counted judgments of these rounds on candidates."""
    pairs = [np.empty(0, np.int64)]
    answers = [np.empty(0, np.int16)]
    for batch in judgment_batches(export.version, export.progress, columns=_READ):
        counted = compute.and_(compute.equal(batch["counted"], 1), compute.equal(batch["control"], ""))
        rows = batch.filter(compute.and_(counted, compute.is_in(batch["round"], pa.array(rounds, pa.string()))))
        pairs.append(pair_codes(_ids(rows["image"], images), _ids(rows["caption"], captions)))
        answer = rows["level"].to_numpy().astype(np.int16)
        for column, known in (("shortcoming", _SHORTCOMINGS), ("wrong_way", _WRONG_WAYS)):
            number = compute.index_in(rows[column], pa.array(known, pa.string()))
            answer = answer * len(known) + number.to_numpy().astype(np.int16)
        answers.append(answer)
    together = np.concatenate(pairs)
    order = together.argsort(kind="stable")
    return CodedVotes(together[order], np.concatenate(answers)[order])


def _texts(
    export: Export, pool: Pool, votes: CodedVotes, images: Mapping[int, str], captions: Mapping[int, str]
) -> Iterator[str]:
    """Yield the lines of some thousand proposals at a time, as one text; ``images`` and ``captions``: cells by id."""
    columns = ("image_id", "caption_id", "annotator__name", "rank", "score")
    ordered = Proposal.objects.filter(pool=pool).order_by("annotator__name", "direction", "id").values_list(*columns)
    proposals = tracked(ordered.iterator(chunk_size=_AT_ONCE), pool.name, export.progress, total=pool.n_proposals)
    while some := list(islice(proposals, _AT_ONCE)):
        wanted = pair_codes(*np.array([(image, caption) for image, caption, *_ in some], np.int64).T)
        starts = votes.pairs.searchsorted(wanted)
        ends = votes.pairs.searchsorted(wanted, side="right")
        counts = ends - starts
        begun = [
            f"{_cell(name)},{rank},{score!r},{captions[caption]},{images[image]}" if count else ""
            for (image, caption, name, rank, score), count in zip(some, counts.tolist(), strict=True)
        ]
        # The places of all votes of all proposals: those of the first one, then of the second, …
        places = np.arange(counts.sum()) + np.repeat(starts - (counts.cumsum() - counts), counts)
        votes_of = zip(np.repeat(np.arange(len(some)), counts).tolist(), votes.answers[places].tolist(), strict=True)
        yield "".join([begun[proposal] + _ENDS[answer] for proposal, answer in votes_of])


def _ids(keys: pa.StringArray, ids: Keys) -> NDArray[np.int64]:
    """Return the id of each key; only different keys are looked up."""
    encoded = keys.dictionary_encode()
    known = np.array([ids[key] for key in encoded.dictionary.to_pylist()], np.int64)
    return known[encoded.indices.to_numpy()]


def _as_cells(ids: Keys) -> dict[int, str]:
    return {pk: _cell(key) for key, pk in ids.items()}


def _cell(text: str) -> str:
    """Return a text as a cell of CSV, in quotes where it has to be."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


FORMAT = Format(write_judgments_csv, "counted judgments in the public raw columns")
