"""Annotators by kind, built in or of installed packages: their properties, their modules, and loading them."""

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from core.errors import CounterpartError
from mitl.annotators.base import OpenAnnotator
from mitl.annotators.kinds import KINDS, Kind
from mitl.models import Annotator
from mitl.search.embeddings import EmbeddingCache

GROUP = "counterpart.annotators"


def kinds() -> tuple[str, ...]:
    """Return the names of all kinds, in alphabetical order."""
    return tuple(sorted({*KINDS, *_installed()}))


def kind_of(kind: str) -> Kind:
    """Return the properties of one of ``kinds``; only an installed package is imported for them."""
    return KINDS[kind] if kind in KINDS else Kind.of_module(module_of(kind))


def module_of(kind: str) -> ModuleType:
    """Import and return the module of one of ``kinds``.

    A built-in kind cannot be replaced. Raises CounterpartError where the package of the kind is no longer installed or
    cannot be imported.
    """
    if kind in KINDS:
        return import_module(f"mitl.annotators.{kind}")
    entry = _installed().get(kind)
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
    return kind_of(annotator.kind).cross_encoder


def is_untrained(annotator: Annotator) -> bool:
    """Whether the annotator learns and has no weights yet."""
    return kind_of(annotator.kind).learns and not annotator.checkpoint


def open_cache(annotator: Annotator) -> EmbeddingCache:
    """Return the annotator's embeddings that were computed before."""
    return EmbeddingCache(annotator, kind_of(annotator.kind).preprocessing)


@cache
def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
