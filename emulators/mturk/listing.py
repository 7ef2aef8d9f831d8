"""Listings in pages, with opaque tokens that only continue the listing they came from."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from emulators.mturk.errors import invalid_value
from emulators.mturk.state import State

Row = TypeVar("Row")

DEFAULT_SIZE = 10


def page(
    state: State,
    params: dict[str, Any],
    *,
    name: str,
    rows: Sequence[Row],
    serial: Callable[[Row], int],
    show: Callable[[Row], dict[str, Any]],
    listing: str = "",
) -> dict[str, Any]:
    """Return one page of ``rows`` under ``name``, with NumResults and, if there is more, NextToken.

    ``rows`` are in the order of their ``serial``: a token names the last row of its page, so rows that appear or
    vanish between two pages move no others. ``listing`` distinguishes listings of the same name. A fault may ask for
    fewer rows than the model allows, even none. Raises TurkError for a token of another listing.
    """
    asked = {key: value for key, value in params.items() if key not in ("NextToken", "MaxResults")}
    digest = _digest(state.seed, [name, listing, asked])
    number, last = _read_token(params["NextToken"], digest) if "NextToken" in params else (0, None)
    rest = [row for row in rows if last is None or serial(row) > last]
    given = rest[: params.get("MaxResults", DEFAULT_SIZE)]
    result: dict[str, Any] = {"NumResults": len(given), name: [show(row) for row in given]}
    if len(rest) > len(given):
        result["NextToken"] = _token(digest, number + 1, serial(given[-1]) if given else last)
    return result


def _token(digest: str, number: int, last: int | None) -> str:
    """Name the last row given. The page number makes the token after an empty page differ from the one before."""
    return base64.urlsafe_b64encode(json.dumps([digest, number, last]).encode()).decode()


def _read_token(token: str, digest: str) -> tuple[int, int | None]:
    try:
        of, number, last = json.loads(base64.urlsafe_b64decode(token))
    except (ValueError, TypeError) as error:
        raise invalid_value("NextToken", token) from error
    if of != digest:
        raise invalid_value("NextToken", token)
    return number, last


def _digest(seed: int, parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps([seed, parts], sort_keys=True, default=str).encode()).hexdigest()[:32]
