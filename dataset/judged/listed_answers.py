"""The answers of a round as lines for programs, under pseudonyms."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from django.db.models import Q, QuerySet

from annotation.models import Assignment, Judgment
from annotation.work.judgments import answers_in
from core.errors import CounterpartError
from core.untrusted import whole_number
from hits.models import Round

FIELDS = {
    "id": ("pk", pa.int64()),
    "hit": ("assignment__hit__number", pa.int32()),
    "place": ("item__place", pa.int16()),
    "image": ("image__key", pa.string()),
    "caption": ("caption__key", pa.string()),
    "level": ("level", pa.int8()),
    **{name: (name, pa.string()) for name in ("shortcoming", "wrong_way", "text")},
    "seconds": ("seconds", pa.int32()),
    "at": ("at", pa.string()),
    "worker": ("worker__pseudonym", pa.string()),
    "simulated": ("worker__simulated", pa.bool_()),
    "counted": ("assignment__state", pa.bool_()),
    "control": ("item__control__polarity", pa.string()),
}
COLUMNS = pa.schema([(name, kind) for name, (_, kind) in FIELDS.items()])
ORDER = ("assignment__hit__number", "assignment", "item__place")
CHUNK = 10_000


def judgments_of(round: Round, after: str = "") -> QuerySet[Judgment]:
    """Return the judgments of the round by HIT, answer set and place, all or those beyond one of them, which ``after``
    names by its id. Those on controls are left out until the round is closed.

    The index of a round's HITs leads to them in this order: a part costs the same wherever it begins. Raises
    CounterpartError where ``after`` names no judgment of the round.
    """
    answers = answers_in(round) if round.closed_at else answers_in(round).of_candidates()
    rows = answers.order_by(*ORDER)
    if not after:
        return rows
    last = rows.filter(pk=whole_number(after) or 0).values_list(*ORDER).first()
    if last is None:
        raise CounterpartError(f"Invalid place {after!r}: use the one in the previous answer.")
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
    for row in rows.values_list(*(field for field, _ in FIELDS.values())).iterator(chunk_size=CHUNK):
        line = dict(zip(FIELDS, row, strict=True))
        line["at"] = line["at"].strftime("%Y-%m-%dT%H:%M:%SZ")
        line["simulated"] = line["simulated"] or round.rehearsal
        line["counted"] = line["counted"] == Assignment.State.ACCEPTED
        line["control"] = (line["control"] or "") if is_closed else None
        yield line
