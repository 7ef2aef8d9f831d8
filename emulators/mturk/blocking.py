"""Bar workers from all of the requester's HITs."""

from typing import Any

from emulators.mturk.errors import TurkError, invalid_value
from emulators.mturk.limits import check_limits
from emulators.mturk.listing import page
from emulators.mturk.rows import Block
from emulators.mturk.state import State

MOST_BLOCKS = 100_000


def create_worker_block(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Bar a worker, or give another reason for one who is barred. They are not told."""
    check_limits(params)
    worker_id = params["WorkerId"]
    if worker_id not in state.workers:
        raise invalid_value("WorkerId", worker_id)
    if worker_id not in state.blocks and len(state.blocks) >= MOST_BLOCKS:
        raise TurkError(f"You can block up to {MOST_BLOCKS:,} Workers.", code="ParameterValidationError")
    state.blocks[worker_id] = Block(state.count("block"), worker_id, params["Reason"])
    return {}


def delete_worker_block(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Let a worker in again; one who was never barred is let in as well."""
    if params["WorkerId"] not in state.workers:
        raise TurkError("WorkerId is invalid.", code="ParameterValidationError")
    state.blocks.pop(params["WorkerId"], None)
    return {}


def list_worker_blocks(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List who is barred, the latest last."""
    rows = sorted(state.blocks.values(), key=lambda block: block.serial)
    return page(state, params, name="WorkerBlocks", rows=rows, serial=lambda block: block.serial, show=_shown)


def _shown(block: Block) -> dict[str, Any]:
    return {"WorkerId": block.worker_id, "Reason": block.reason}
