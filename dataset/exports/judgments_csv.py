"""Format ``judgments-csv``, that of ECCV Caption's raw annotations: a row per proposal and counted judgment."""

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.progress import tracked
from dataset.exports.request import Export
from dataset.exports.tables import judgment_batches
from hits.question import Level, Shortcoming, WrongWay
from mitl.models import Pool, Proposal

COLUMNS = ("model", "ranking", "score", "cid", "iid", "annotation", "shortcoming", "shortcoming2")

_AT_ONCE = 10_000  # proposals
_SHORTCOMINGS, _WRONG_WAYS = ("", *Shortcoming.values), ("", *WrongWay.values)
# The end of a line for every answer there is, by level, shortcoming and wrong way.
_ENDS = [f",{level},{one},{other}\n" for level in (0, *Level.values) for one in _SHORTCOMINGS for other in _WRONG_WAYS]


class Votes(NamedTuple):
    """Judgments in a few bytes each, sorted by ``pairs``: the database ids of image and caption in one number."""

    pairs: NDArray[np.int64]
    answers: NDArray[np.int16]  # numbers in _ENDS


class _Echo:
    """A file whose ``write`` returns the text, so that ``csv.writer`` returns the line."""

    @staticmethod
    def write(text: str) -> str:
        return text


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
    with (export.folder / f"{export.version.name}_judgments.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        for pool, names in rounds.items():
            file.writelines(_lines(export, pool, _votes(export, names)))


def _votes(export: Export, rounds: Sequence[str]) -> Votes:
    """Return the counted judgments of these rounds on candidates."""
    collection = export.version.collection
    images: dict[str, int] = dict(collection.images.values_list("key", "pk"))
    captions: dict[str, int] = dict(collection.captions.values_list("key", "pk"))
    pairs, answers = [np.empty(0, np.int64)], [np.empty(0, np.int16)]
    for batch in judgment_batches(export.version, export.progress):
        counted = compute.and_(compute.equal(batch["counted"], 1), compute.equal(batch["control"], ""))
        rows = batch.filter(compute.and_(counted, compute.is_in(batch["round"], pa.array(rounds, pa.string()))))
        keys = zip(rows["image"].to_pylist(), rows["caption"].to_pylist(), strict=True)
        pairs.append(np.array([_pair(images[image], captions[caption]) for image, caption in keys], np.int64))
        answer = rows["level"].to_numpy().astype(np.int16)
        for column, known in (("shortcoming", _SHORTCOMINGS), ("wrong_way", _WRONG_WAYS)):
            number = compute.index_in(rows[column], pa.array(known, pa.string()))
            answer = answer * len(known) + number.to_numpy().astype(np.int16)
        answers.append(answer)
    together = np.concatenate(pairs)
    order = together.argsort(kind="stable")
    return Votes(together[order], np.concatenate(answers)[order])


def _lines(export: Export, pool: Pool, votes: Votes) -> Iterator[str]:
    begin = csv.writer(_Echo(), lineterminator="").writerow
    columns = ("image_id", "caption_id", "annotator__name", "rank", "score", "caption__key", "image__key")
    ordered = Proposal.objects.filter(pool=pool).order_by("annotator__name", "direction", "id").values_list(*columns)
    proposals = tracked(ordered.iterator(chunk_size=_AT_ONCE), pool.name, export.progress, total=pool.n_proposals)
    while some := list(islice(proposals, _AT_ONCE)):
        wanted = np.array([_pair(image, caption) for image, caption, *_ in some])
        starts, ends = votes.pairs.searchsorted(wanted), votes.pairs.searchsorted(wanted, side="right")
        for (_, _, *proposed), start, end in zip(some, starts.tolist(), ends.tolist(), strict=True):
            if start < end:
                begun: Any = begin(proposed)
                yield from (begun + _ENDS[answer] for answer in votes.answers[start:end].tolist())


def _pair(image: int, caption: int) -> int:
    return image << 32 | caption
