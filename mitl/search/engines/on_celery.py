"""Run the units of a plan in Celery workers, and in this process too: without any worker, it does all by itself.

Helpers and driver take units by leases (``mitl.search.unit_leases``), so that nobody assigns work and nobody is missed.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from time import sleep

from celery import current_app

from core.jobs import HandedBack, is_stopping
from core.progress import Progress
from mitl.search.engines import Run, Tell
from mitl.search.plans import Plan, open_plan
from mitl.search.unit_leases import held, take

TASK = "mitl.tasks.help_with_plan"
HELPERS = 64  # workers that are asked to help
PAUSE = 0.5  # seconds between two looks at what others have done


def check() -> None:
    """Nothing is needed: the broker may be down, and the driver work alone."""


def connected() -> AbstractContextManager[Run]:
    """Nothing is to be connected."""
    return nullcontext(_run)


def _run(plan: Plan, tell: Tell) -> None:
    """Ask workers for help, and work on what nobody else does until all units are done."""
    missing = plan.missing()
    for _ in range(min(len(missing) - 1, HELPERS)):
        current_app.signature(TASK, args=[plan.folder]).apply_async()
    while missing and plan.is_wanted:
        done = len(plan.units) - len(missing)
        tell(done)
        if not _work_on_one(plan, missing, lambda *_, done=done: tell(done)):
            sleep(PAUSE)
        missing = plan.missing()
    tell(len(plan.units))


def help_with(folder: str) -> None:
    """Work on a plan's units as long as it has any and the worker is not stopped; what fails here fails its driver
    too."""
    plan = open_plan(folder)
    while plan and plan.is_wanted and not is_stopping() and (missing := plan.missing()):
        if not _work_on_one(plan, missing, _unless_stopped):
            sleep(PAUSE)


def _unless_stopped(step: str, done: int, total: int | None) -> None:
    if is_stopping():
        raise HandedBack


def _work_on_one(plan: Plan, missing: Sequence[int], progress: Progress) -> bool:
    """Run one unit that nobody works on. False: there is none."""
    number = next((number for number in missing if take(f"{plan.folder}/{number}")), None)
    if number is None:
        return False
    with held(f"{plan.folder}/{number}") as check_wanted:

        def both(step: str, done: int, total: int | None) -> None:
            check_wanted(step, done, total)
            progress(step, done, total)

        if number not in plan.results():  # nor was it done between the look and the lease
            plan.run(number, both)
    return True
