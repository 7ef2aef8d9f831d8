"""What the marketplace remembers of requests that carried a unique token: for 24 hours that it did them."""

from datetime import timedelta

from emulators.mturk.state import State

MEMORY = timedelta(hours=24)


def made_with(state: State, kind: str, token: str | None) -> str | None:
    """Return the id of what a request of this kind made with this token in the last 24 hours."""
    if token is None or (kind, token) not in state.tokens:
        return None
    at, made = state.tokens[kind, token]
    return made if state.now < at + MEMORY else None


def remember(state: State, kind: str, token: str | None, made: str) -> None:
    """Remember that a request with this token was done."""
    if token is not None:
        state.tokens[kind, token] = state.now, made
