"""Give a HIT more places, more time, or none."""

from datetime import UTC, datetime
from typing import Any

from emulators.mturk.errors import TurkError, already_processed, out_of_range, wrong_hit_state
from emulators.mturk.hits import find_hit
from emulators.mturk.limits import YEAR, check_limits
from emulators.mturk.money import hold
from emulators.mturk.rows import HIT
from emulators.mturk.settling import expire, refresh, reopen
from emulators.mturk.state import State
from emulators.mturk.tokens import made_with, remember

OLDEST = datetime(2015, 7, 22, tzinfo=UTC)
SHORTEST = 60  # seconds that an expiry can be moved by


def create_additional_assignments(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Add places to a HIT. They cannot be taken away again."""
    check_limits(params)
    hit, count = find_hit(state, params["HITId"]), params["NumberOfAdditionalAssignments"]
    token = params.get("UniqueRequestToken")
    if token is not None and made_with(state, "extension", token):
        raise already_processed(token)
    _check_extension(hit, count)
    if not hit.expired:
        hold(state, hit, count)
    hit.max_assignments += count
    remember(state, "extension", token, hit.id)
    state.tell("HITExtended", hit)
    refresh(state, hit)
    return {}


def update_expiration(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Move the expiry of a HIT: to now, by naming any past instant, or to later than it is."""
    hit, until = find_hit(state, params["HITId"]), params["ExpireAt"]
    _require_kept(hit)
    if until < state.now:
        _expire_now(state, hit)
        return {}
    # The live service keys a later expiry by HIT and second, and its texts show the key (Dallinger#3109).
    token = f"{hit.id}{until.astimezone(UTC):%a %b %d %H:%M:%S UTC %Y}"
    if made_with(state, "expiry", token):
        raise already_processed(token)
    increment = int((until - hit.expires_at).total_seconds())
    if not SHORTEST <= increment <= YEAR:
        raise out_of_range("ExpirationIncrementInSeconds", increment, SHORTEST, YEAR)
    reopen(state, hit, until)
    remember(state, "expiry", token, hit.id)
    return {}


def _check_extension(hit: HIT, count: int) -> None:
    _require_kept(hit)
    if hit.created_at < OLDEST:
        raise TurkError(
            "HITs that were created before July 22, 2015 cannot be extended.", turk_code="HITTooOldForExtension"
        )
    if hit.max_assignments < 10 <= hit.max_assignments + count:
        raise TurkError(
            "HITs created with fewer than 10 assignments cannot be extended to have 10 or more assignments.",
            turk_code="InvalidMaximumAssignmentsIncrease",
        )


def _require_kept(hit: HIT) -> None:
    if hit.status == "Disposed":
        raise wrong_hit_state(hit.status, "Assignable", "Unassignable", "Reviewable", "Reviewing")


def _expire_now(state: State, hit: HIT) -> None:
    if not hit.expired:
        hit.expires_at = state.now
        expire(state, hit)
