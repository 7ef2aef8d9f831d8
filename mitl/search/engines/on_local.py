"""Run the units of a plan in this process, one after the other."""

from mitl.search.engines import Tell
from mitl.search.plans import Plan


def check() -> None:
    """Nothing is needed."""


def run(plan: Plan, tell: Tell) -> None:
    """Run every unit that has no result yet."""
    for number in plan.missing():
        _run(plan, number, len(plan.units) - len(plan.missing()), tell)
    tell(len(plan.units))


def _run(plan: Plan, number: int, done: int, tell: Tell) -> None:
    plan.run(number, lambda *_: tell(done))
