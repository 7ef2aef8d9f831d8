"""Annotators, a module a kind: ours, and those of installed packages. ``base`` says what such a module defines."""

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from core.errors import CounterpartError
from mitl.annotators.base import OpenAnnotator
from mitl.models import Annotator
from mitl.search.embeddings import EmbeddingCache

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
    """Return the names of all kinds, in alphabetical order."""
    return tuple(sorted({*BUILT_IN, *_plugged_in()}))


def module_of(kind: str) -> ModuleType:
    """Return the module of one of ``kinds``; imported here, so that a command loads only the kinds it uses.

    A built-in kind cannot be replaced. Raises CounterpartError where the package of the kind is no longer installed or
    cannot be imported.
    """
    if kind in BUILT_IN:
        return import_module(f"mitl.annotators.{kind}")
    entry = _plugged_in().get(kind)
    if entry is None:
        raise CounterpartError(f"No installed package provides annotators of kind {kind!r}; install it again.")
    try:
        module: ModuleType = entry.load()
    except Exception as error:
        raise CounterpartError(
            f"Annotators of kind {kind!r} cannot be loaded from {entry.value}: {error!r}. Contact the package's author."
        ) from error
    return module


def load(annotator: Annotator, device: str = "cpu") -> OpenAnnotator:
    """Load an annotator's weights, to work on ``cpu`` or ``cuda``. Raises CounterpartError if it has none."""
    opened: OpenAnnotator = module_of(annotator.kind).open_annotator(annotator, device)
    return opened


def is_cross_encoder(annotator: Annotator) -> bool:
    """Whether the annotator scores pair by pair; its weights are not loaded."""
    return getattr(module_of(annotator.kind), "CROSS_ENCODER", False)


def open_cache(annotator: Annotator) -> EmbeddingCache:
    """Return the annotator's embeddings that were computed before."""
    return EmbeddingCache(annotator, getattr(module_of(annotator.kind), "PREPROCESSING", None))


@cache
def _plugged_in() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
