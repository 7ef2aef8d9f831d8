"""Where the units of a search by parts run: in this process, or on a Ray cluster.

Each module is an engine. ``check()`` raises CounterpartError where it cannot be used here. ``connected()`` yields the
function ``run(plan, report)``, which returns when every unit of a stored plan has its result. ``report`` is called
with the number of results, at least every second or as often as a unit advances; it may raise
``core.work.jobs.Cancelled``. All engines come to the same bytes, and raise what a unit raises.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Protocol, cast

from mitl.search.plans import SearchPlan

Report = Callable[[int], None]
"""Is called with the number of units that have a result."""
Run = Callable[[SearchPlan, Report], None]


class Engine(Protocol):
    """What each module of this package is."""

    def check(self) -> None: ...

    def connected(self) -> AbstractContextManager[Run]: ...


def engine_of(name: str) -> Engine:
    """Return that of a ``request.RunOn``. Raises CounterpartError where it cannot be used here."""
    engine = cast(Engine, import_module(f"{__name__}.on_{name}"))
    engine.check()
    return engine
