"""The judgments of a round for programs: under pseudonyms, in the order in which they were stored."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from django.db.models import QuerySet

from annotation.models import Assignment, Judgment
from hits.models import Round

COLUMNS = pa.schema(
    [
        ("id", pa.int64()),
        ("hit", pa.int32()),
        ("place", pa.int16()),
        ("image", pa.string()),
        ("caption", pa.string()),
        ("level", pa.int8()),
        ("shortcoming", pa.string()),
        ("wrong_way", pa.string()),
        ("text", pa.string()),
        ("seconds", pa.int32()),
        ("at", pa.string()),
        ("worker", pa.string()),
        ("simulated", pa.bool_()),
        ("counted", pa.bool_()),
        ("control", pa.string()),
    ]
)
READ = (
    *("pk", "item__hit__number", "item__place", "image__key", "caption__key"),
    *("level", "shortcoming", "wrong_way", "text", "seconds", "at"),
    *("worker__pseudonym", "worker__simulated", "assignment__state", "item__control__polarity"),
)
CHUNK = 10_000


def judgments_of(round: Round) -> QuerySet[Judgment]:
    """Return the judgments of the round in the order in which they were stored."""
    return Judgment.objects.filter(assignment__hit__round=round).order_by("pk")


def judgment_lines(round: Round, rows: QuerySet[Judgment]) -> Iterator[dict[str, Any]]:
    """Yield judgments with the values of COLUMNS. ``control`` is null until the round is closed; then the polarity of
    the gold control, or empty for a candidate."""
    is_closed = round.state == "closed"
    for row in rows.values_list(*READ).iterator(chunk_size=CHUNK):
        *told, at, worker, simulated, state, polarity = row
        line = dict(zip(COLUMNS.names, told, strict=False))
        line["at"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        line["worker"] = worker
        line["simulated"] = simulated or round.rehearsal
        line["counted"] = state == Assignment.State.ACCEPTED
        line["control"] = (polarity or "") if is_closed else None
        yield line
