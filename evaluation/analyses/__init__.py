"""What can be analysed: a module a subject, found by being here.

A subject has ``HELP`` (one line), ``add_arguments(parser)`` and ``analyse(*, progress, **options)``, which returns
``Findings`` and raises CounterpartError. The command ``analyse`` adds ``--json`` and ``--plot`` to each.
"""

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from mitl.charts import Spec


@dataclass(frozen=True)
class Findings:
    """What an analysis found: as ``figures`` (for JSON), as text for people, and as a Vega-Lite chart."""

    figures: dict[str, Any]
    text: str
    chart: Spec


def subjects() -> dict[str, ModuleType]:
    """Return the modules of all subjects by name."""
    return {module.name: import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)}
