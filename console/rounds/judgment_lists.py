"""The judgments of a round for programs, under pseudonyms."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from django.db.models import Q, QuerySet

from annotation.models import Assignment, Judgment
from core.errors import CounterpartError
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
    *("pk", "assignment__hit__number", "item__place", "image__key", "caption__key"),
    *("level", "shortcoming", "wrong_way", "text", "seconds", "at"),
    *("worker__pseudonym", "worker__simulated", "assignment__state", "item__control__polarity"),
)
ORDER = ("assignment__hit__number", "assignment", "item__place")
LONGEST = 19  # digits of an id
CHUNK = 10_000


def judgments_of(round: Round, after: str = "") -> QuerySet[Judgment]:
    """Return the judgments of the round by HIT, answer set and place, all or those beyond one of them, which ``after``
    names by its id.

    The index of a round's HITs leads to them in this order: a part costs the same wherever it begins. Raises
    CounterpartError where ``after`` names no judgment of the round.
    """
    rows = Judgment.objects.filter(assignment__hit__round=round).order_by(*ORDER)
    if not after:
        return rows
    known = rows.filter(pk=after) if after.isascii() and after.isdecimal() and len(after) < LONGEST else rows.none()
    last = known.values_list(*ORDER).first()
    if last is None:
        raise CounterpartError(f"The list has no place {after!r}. Take it from the answer before.")
    hit, answers, place = last
    same_hit = Q(assignment__hit__number=hit)
    beyond = Q(assignment__hit__number__gt=hit) | same_hit & (
        Q(assignment__gt=answers) | Q(assignment=answers, item__place__gt=place)
    )
    return rows.filter(beyond, assignment__hit__number__gte=hit)


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
