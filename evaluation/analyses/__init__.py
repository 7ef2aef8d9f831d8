"""The subjects of the command ``analyse``: every module of this package is one.

A subject has ``HELP`` (one line), ``add_arguments(parser)`` and ``analyse(*, progress, **options)``, which returns
``Findings`` and raises CounterpartError. The command adds ``--json``, ``--csv`` and ``--plot`` to each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from mitl.charts import Spec


@dataclass(frozen=True)
class Findings:
    """The result of an analysis: ``figures`` (for JSON), a text, a Vega-Lite chart, and ``rows`` (for CSV).

    The rows have the same names each; None and NaN are empty cells.
    """

    figures: dict[str, Any]
    text: str
    chart: Spec
    rows: Sequence[Mapping[str, Any]]


def subjects() -> dict[str, ModuleType]:
    """Return the modules of all subjects, by name."""
    return {module.name: import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)}
