"""Listings in pages, with opaque tokens that only continue the listing they came from."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any

from counterpart_emulators.mturk.errors import invalid_value
from counterpart_emulators.mturk.state import State

DEFAULT_SIZE = 10


def page(
    state: State,
    params: dict[str, Any],
    name: str,
    rows: Iterable[Any],
    show: Callable[[Any], dict[str, Any]],
    *,
    listing: str = "",
    newest_first: bool = False,
) -> dict[str, Any]:
    """Return one page of ``rows`` under ``name``, with NumResults and, if there is more, NextToken.

    Rows come in the order of their ``serial``, and a token names the last row of its page, so that rows that appear or
    vanish between two pages move no others. ``listing`` distinguishes listings of the same name. A fault may ask for
    fewer rows than the model allows, even none. Raises TurkError for a token of another listing.
    """
    asked = {key: value for key, value in params.items() if key not in ("NextToken", "MaxResults")}
    digest = hashlib.sha256(json.dumps([state.seed, name, listing, asked], sort_keys=True, default=str).encode())
    of = digest.hexdigest()[:32]
    number, last = _read_token(params["NextToken"], of) if "NextToken" in params else (0, None)
    places = sorted((-row.serial if newest_first else row.serial, row) for row in rows)
    rest = [(place, row) for place, row in places if last is None or place > last]
    given = rest[: params.get("MaxResults", DEFAULT_SIZE)]
    result: dict[str, Any] = {"NumResults": len(given), name: [show(row) for _, row in given]}
    if len(rest) > len(given):
        # The page number makes the token after an empty page differ from the one before.
        token = json.dumps([of, number + 1, given[-1][0] if given else last])
        result["NextToken"] = base64.urlsafe_b64encode(token.encode()).decode()
    return result


def _read_token(token: str, digest: str) -> tuple[int, int | None]:
    try:
        of, number, last = json.loads(base64.urlsafe_b64decode(token))
    except (ValueError, TypeError) as error:
        raise invalid_value("NextToken", token) from error
    if of != digest:
        raise invalid_value("NextToken", token)
    return number, last
