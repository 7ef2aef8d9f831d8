"""The form of ECCV Caption's raw annotations: a row for each counted judgment of each machine's proposal."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import CounterpartError
from core.progress import Progress, tracked
from dataset.models import Version
from dataset.version_files import JUDGMENTS, checked_file
from hits.models import Round
from mitl.models import Pool, Proposal

COLUMNS = ("model", "ranking", "score", "cid", "iid", "annotation", "shortcoming", "shortcoming2")

Answers = Mapping[tuple[str, str], Sequence[tuple[str, str, str]]]
"""Keys of an image and a caption → level, shortcoming and what is described in a wrong way, an entry a judgment."""


def write_judgments_csv(version: Version, folder: Path, progress: Progress) -> list[Path]:
    """Write ``<version>_judgments.csv``, ordered by machine, direction, query and rank.

    ``ranking`` counts from 1, ``annotation`` is the level 1-4, ``shortcoming2`` says what is described in a wrong way.
    A pair that a machine proposed in both directions has a row for each. The judgments are those that
    counted when the version was released. Raises CounterpartError for a version without rounds.
    """
    rounds = list(version.rounds.select_related("pool").order_by("name"))
    if not rounds:
        raise CounterpartError(f"Version {version} has no rounds and so no judgments; export it as eccv-json.")
    path = folder / f"{version.name}_judgments.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for pool, answers in _answers_by_pool(version, rounds).items():
            writer.writerows(_rows(pool, answers, progress))
    return [path]


def _answers_by_pool(version: Version, rounds: Sequence[Round]) -> dict[Pool, Answers]:
    """Sort the released judgments to the pools that their rounds were packed from."""
    pools = {round.name: round.pool for round in rounds}
    answers: dict[Pool, dict[tuple[str, str], list[tuple[str, str, str]]]] = defaultdict(lambda: defaultdict(list))
    with checked_file(version, JUDGMENTS).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["counted"] == "1" and not row["control"]:
                said = (row["level"], row["shortcoming"], row["wrong_way"])
                answers[pools[row["round"]]][row["image"], row["caption"]].append(said)
    return dict(answers)


def _rows(pool: Pool, answers: Answers, progress: Progress) -> Iterator[tuple[Any, ...]]:
    columns = ("annotator__name", "rank", "score", "caption__key", "image__key")
    proposals = (
        Proposal.objects.filter(pool=pool)
        .order_by("annotator__name", "direction", "id")
        .values_list(*columns)
        .iterator(chunk_size=10_000)
    )
    for *proposed, caption, image in tracked(proposals, pool.name, progress, total=pool.n_proposals):
        for said in answers.get((image, caption), ()):
            yield (*proposed, caption, image, *said)
