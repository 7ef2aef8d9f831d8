"""Format ``judgments-csv``, that of ECCV Caption's raw annotations: a row per proposal and counted judgment."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import CounterpartError
from core.progress import Progress, tracked
from dataset.judgment_rows import ReleasedJudgment
from dataset.models import Version
from dataset.version_files import load_judgments
from mitl.models import Pool, Proposal

COLUMNS = ("model", "ranking", "score", "cid", "iid", "annotation", "shortcoming", "shortcoming2")

JudgmentsByPair = Mapping[tuple[str, str], Sequence[ReleasedJudgment]]
"""Keys of an image and a caption → their judgments."""


def write_judgments_csv(version: Version, folder: Path, progress: Progress) -> list[Path]:
    """Write ``<version>_judgments.csv``, ordered by annotator, direction, query and rank.

    ``ranking`` counts from 1, ``annotation`` is the level 1-4, ``shortcoming2`` is what the caption describes in a
    wrong way. A pair that an annotator proposed in both directions has a row for each. The judgments are those that
    counted at the release. Raises CounterpartError for a version without rounds.
    """
    if not version.rounds.exists():
        raise CounterpartError(f"Version {version} has no rounds and so no judgments. Export it as eccv-json.")
    path = folder / f"{version.name}_judgments.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for pool, judgments in _judgments_by_pool(version).items():
            writer.writerows(_rows(pool, judgments, progress))
    return [path]


def _judgments_by_pool(version: Version) -> dict[Pool, JudgmentsByPair]:
    """Group the released judgments by the pools that their rounds were packed from."""
    pools = {round.name: round.pool for round in version.rounds.select_related("pool")}
    judgments: dict[Pool, dict[tuple[str, str], list[ReleasedJudgment]]] = defaultdict(lambda: defaultdict(list))
    for judgment in load_judgments(version):
        if judgment.counted and not judgment.control:
            judgments[pools[judgment.round]][judgment.image, judgment.caption].append(judgment)
    return dict(judgments)


def _rows(pool: Pool, judgments: JudgmentsByPair, progress: Progress) -> Iterator[tuple[Any, ...]]:
    columns = ("annotator__name", "rank", "score", "caption__key", "image__key")
    proposals = (
        Proposal.objects.filter(pool=pool)
        .order_by("annotator__name", "direction", "id")
        .values_list(*columns)
        .iterator(chunk_size=10_000)
    )
    for *proposed, caption, image in tracked(proposals, pool.name, progress, total=pool.n_proposals):
        for judgment in judgments.get((image, caption), ()):
            yield (*proposed, caption, image, judgment.level, judgment.shortcoming, judgment.wrong_way)
