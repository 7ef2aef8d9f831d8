"""Somebody else who acts on a HIT just while a requester is reading about it."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from emulators.mturk.world import World


def act_on(world: World, hit_id: str | None, act: str) -> None:
    """Do one of ``ACTS`` to a HIT, or to the latest one. Raises Refusal or TurkError where the HIT does not let it."""
    with world.looking() as state:
        chosen = hit_id or next(reversed(state.hits), None)
    if chosen:
        ACTS[act](world, chosen)


def _accept(world: World, hit_id: str) -> tuple[str, str]:
    worker_id = world.register_worker(approved=10_000, masters=True, adult=True)
    return world.accept(hit_id, worker_id)["AssignmentId"], worker_id


def _submit(world: World, hit_id: str) -> None:
    assignment_id, worker_id = _accept(world, hit_id)
    world.submit(assignment_id, worker_id, {"crowd": "somebody was here"})


def _approve(world: World, hit_id: str) -> None:
    with world.looking() as state:
        first = next((each.id for each in state.hits[hit_id].assignments if each.status == "Submitted"), None)
    if first:
        world.call("ApproveAssignment", {"AssignmentId": first})


def _expire(world: World, hit_id: str) -> None:
    past = world.clock.now() - timedelta(days=1)
    world.call("UpdateExpirationForHIT", {"HITId": hit_id, "ExpireAt": past})


ACTS: Mapping[str, Callable[[World, str], object]] = {
    "accept": _accept,
    "submit": _submit,
    "approve": _approve,
    "expire": _expire,
}
