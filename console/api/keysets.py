"""Lists in parts. A part begins after the last row of the previous part: new rows do not shift it, and the last part
costs no more than the first."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from ninja import Field, Schema
from pydantic import create_model

from core.errors import CounterpartError

USUAL = 50
MOST = 1000


class Place(Schema):
    """Which part of a list."""

    limit: Annotated[int, Field(ge=1, le=MOST, description="most rows of the answer")] = USUAL
    after: Annotated[str, Field(max_length=200, description="`next` of the part before; empty: from the start")] = ""


def part_schema(name: str, answer: type[Schema], description: str) -> type[Schema]:
    """Return the schema of a part of a list of answers."""
    fields: dict[str, Any] = {"results": list[answer], "next": str | None}  # type: ignore[valid-type]
    return create_model(name, __base__=Schema, __doc__=description, **fields)


def part_of(
    rows: QuerySet[Any],
    place: Place,
    *,
    key: str = "pk",
    newest: str = "",
    read: Callable[[QuerySet[Any]], Iterable[Any]] = list,
) -> dict[str, Any]:
    """Return the part of the list as ``results`` and ``next``, which is null at the end.

    Rows are ordered by ``key``, a unique and indexed column that answers show; or, given ``newest``, a time, by it,
    the latest first. ``read`` returns what is shown of rows: themselves, or dicts with ``key``. Raises CounterpartError
    where ``after`` names no row.
    """
    order = [f"-{newest}", f"-{key}"] if newest else [key]
    found = rows.order_by(*order)
    if place.after:
        found = found.filter(_beyond(rows, place.after, key, newest))
    return cut([*read(found[: place.limit + 1])], place.limit, key=key)


def cut(shown: list[Any], limit: int, *, key: str) -> dict[str, Any]:
    """Return the first ``limit`` rows as ``results``, and where the next part begins if there are more."""
    more = len(shown) > limit
    return {"results": shown[:limit], "next": str(_value(shown[limit - 1], key)) if more else None}


def _beyond(rows: QuerySet[Any], after: str, key: str, newest: str) -> Q:
    try:
        if not newest:
            field = rows.model._meta.pk if key == "pk" else rows.model._meta.get_field(key)
            return Q(**{f"{key}__gt": field.to_python(after)})
        last = rows.model._default_manager.filter(**{key: after}).first()
    except (ValidationError, ValueError, OverflowError):
        last = None
    if last is None:
        raise CounterpartError(f"The list has no place {after!r}. Take it from the answer before.")
    at = getattr(last, newest)
    return Q(**{f"{newest}__lt": at}) | Q(**{newest: at, f"{key}__lt": _value(last, key)})


def _value(row: Model | dict[str, Any], key: str) -> Any:
    return row[key] if isinstance(row, dict) else getattr(row, key)
