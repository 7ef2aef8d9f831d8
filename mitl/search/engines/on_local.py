"""Run the units of a plan in this process, one after the other."""

from contextlib import AbstractContextManager, nullcontext

from mitl.search.engines import Report, Run
from mitl.search.plans import SearchPlan


def check() -> None:
    """Nothing is needed."""


def connected() -> AbstractContextManager[Run]:
    """Nothing is to be connected."""
    return nullcontext(_run)


def _run(plan: SearchPlan, report: Report) -> None:
    """Run every unit that has no result yet."""
    for number in plan.missing():
        done = len(plan.results())
        plan.run(number, lambda *_, done=done: report(done))
    report(len(plan.units))
