"""The machines, a module a kind: ours, and those of installed packages. ``base`` tells what a module holds."""

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from core.errors import CounterpartError
from mitl.annotators.base import Machine
from mitl.models import Annotator

BUILT_IN = (
    "blip",
    "clip",
    "embedding",
    "files",
    "kcca",
    "nn",
    "overlap",
    "pcme",
    "pvse",
    "siglip",
    "vilt",
    "vlm",
    "vse",
    "vsrn",
)
GROUP = "counterpart.machines"


def kinds() -> tuple[str, ...]:
    """Return the kinds of machines there are, in the order of the alphabet."""
    return tuple(sorted({*BUILT_IN, *_plugged_in()}))


def module_of(kind: str) -> ModuleType:
    """Return the module of one of ``kinds``; imported here, so that a command pays only for the machine it uses.

    A kind of ours cannot be replaced from outside. Raises CounterpartError where the package that brought the kind
    is gone or cannot be imported.
    """
    if kind in BUILT_IN:
        return import_module(f"mitl.annotators.{kind}")
    entry = _plugged_in().get(kind)
    if entry is None:
        raise CounterpartError(f"No installed package brings the kind of machine {kind!r}; install it again.")
    try:
        module: ModuleType = entry.load()
    except Exception as error:
        raise CounterpartError(
            f"The kind of machine {kind!r} cannot be loaded from {entry.value}: {error!r}. Ask who made that package."
        ) from error
    return module


def load(annotator: Annotator, device: str = "cpu") -> Machine:
    """Return the machine that a row stands for, ready to work on ``cpu`` or ``cuda``.

    Raises CounterpartError if it lacks its weights.
    """
    machine: Machine = module_of(annotator.kind).open_annotator(annotator, device)
    return machine


@cache
def _plugged_in() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
