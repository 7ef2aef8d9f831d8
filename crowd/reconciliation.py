"""Reconciliation: repair the rows of ``annotation`` and of this app, and make the calls that are due."""

from annotation.repair import repair, run_each
from crowd.disposing import dispose_of_finished
from crowd.outbox import deliver_due


def reconcile() -> dict[str, int]:
    """Repair everything once; returns how many rows of each kind needed it. What fails is logged, the rest goes on."""
    return repair() | run_each({"finished HITs": dispose_of_finished, "late calls": deliver_due})
