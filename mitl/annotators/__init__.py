"""Annotators by kind: what a kind declares, the module that does its work, and loading it.

Every module and folder of this package and of ``counterpart_annotators.kinds`` is a kind of its name; an installed
package adds one by an entry point ``counterpart.annotators``. What a kind declares is read without torch, OpenCV or
nltk: a module that needs them is a folder, whose ``annotator`` is imported when the kind is used.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Literal

from core.errors import CounterpartError
from core.extensions import ANNOTATOR_GROUP, ANNOTATORS, modules_in
from core.files.stored_files import StoredFile, read_arrays
from counterpart_annotators.base import Arrays, OpenAnnotator, StoredAnnotator
from counterpart_annotators.options import Options
from mitl.hosting import purses
from mitl.hosting.option_fields import Fields, fields_of
from mitl.hosting.plain_rows import EmbeddingCache
from mitl.models import Annotator


@dataclass(frozen=True)
class AnnotatorKind:
    """What a kind declares.

    Attributes:
        declared: its options by name.
        checkpoint: whether it needs files.
        losses: names of its losses, the default first; empty without a choice.
        learns: whether it can be trained.
        cross_encoder: whether it scores pair by pair.
        preprocessing: a text that changes whenever the processing of pictures and words ahead of the network changes;
            with it, embeddings are kept for the next search.
    """

    declared: Options
    checkpoint: Literal["required", "optional", "none"]
    losses: tuple[str, ...]
    learns: bool
    cross_encoder: bool
    preprocessing: str | None

    @cached_property
    def options(self) -> Fields:
        """Its options as form fields, the defaults as ``initial``."""
        return fields_of(self.declared)


def built_in() -> tuple[str, ...]:
    """Return the names of the kinds of this package and of counterpart-annotators, in alphabetical order."""
    return tuple(sorted(_places()))


def kinds() -> tuple[str, ...]:
    """Return the names of all kinds, in alphabetical order."""
    return tuple(sorted({*built_in(), *_installed()}))


def kind_of(kind: str) -> AnnotatorKind:
    """Return what one of ``kinds`` declares (``counterpart_annotators.base``)."""
    declared = _declared_in(kind)
    return AnnotatorKind(
        declared=getattr(declared, "OPTIONS", {}),
        checkpoint=getattr(declared, "CHECKPOINT", "none"),
        losses=getattr(declared, "LOSSES", ()),
        learns=getattr(declared, "LEARNS", hasattr(declared, "train")),
        cross_encoder=getattr(declared, "CROSS_ENCODER", False),
        preprocessing=getattr(declared, "PREPROCESSING", None),
    )


def module_of(kind: str) -> ModuleType:
    """Import and return the module that does the work of one of ``kinds``.

    A built-in kind cannot be replaced. Raises CounterpartError where the package of the kind is not installed or cannot
    be imported.
    """
    declared = _declared_in(kind)
    if hasattr(declared, "open_annotator") or not hasattr(declared, "__path__"):
        return declared
    with _named(kind, declared.__name__):
        return import_module(f"{declared.__name__}.annotator")


def load(annotator: Annotator, device: str = "cpu") -> OpenAnnotator:
    """Load an annotator's weights, to work on ``cpu`` or ``cuda``. Raises CounterpartError if it has none."""
    arrays = stored_arrays(annotator) if annotator.checkpoint or is_untrained(annotator) else {}
    return open_stored(annotator.kind, StoredAnnotator(annotator.name, annotator.options, arrays, purses), device)


def open_stored(kind: str, stored: StoredAnnotator, device: str = "cpu") -> OpenAnnotator:
    """Open weights of one of ``kinds``, which need not be an annotator's."""
    opened: OpenAnnotator = module_of(kind).open_annotator(stored, device)
    return opened


def stored_arrays(annotator: Annotator) -> Arrays:
    """Return the stored weights of an annotator. Raises CounterpartError if it has none yet."""
    if not annotator.checkpoint:
        raise CounterpartError(
            f"it is not trained yet; run: manage.py train_annotator {annotator.name} --collection NAME"
        )
    return read_arrays(StoredFile(annotator.checkpoint, annotator.checksum))


def weights_of(name: str) -> Arrays | None:
    """Return the stored weights of the annotator of a name, None for an unknown name."""
    annotator = Annotator.objects.filter(name=name).first()
    return stored_arrays(annotator) if annotator else None


def is_cross_encoder(annotator: Annotator) -> bool:
    """Whether the annotator scores pair by pair; its weights are not loaded."""
    return kind_of(annotator.kind).cross_encoder


def is_untrained(annotator: Annotator) -> bool:
    """Whether the annotator learns and has no weights yet."""
    return kind_of(annotator.kind).learns and not annotator.checkpoint


def open_cache(annotator: Annotator) -> EmbeddingCache:
    """Return the annotator's embeddings that were computed before."""
    return EmbeddingCache(annotator, kind_of(annotator.kind).preprocessing)


def _declared_in(kind: str) -> ModuleType:
    """Import and return the module or folder of a kind."""
    if kind in built_in():
        return import_module(f"{_places()[kind]}.{kind}")
    entry = _installed().get(kind)
    if entry is None:
        raise CounterpartError(f"No installed package provides annotators of kind {kind!r}; install it again.")
    with _named(kind, entry.value):
        module: ModuleType = entry.load()
    return module


@contextmanager
def _named(kind: str, place: str) -> Iterator[None]:
    """Raise CounterpartError with the kind's name for whatever goes wrong in an import, such as a missing package."""
    try:
        yield
    except Exception as error:
        raise CounterpartError(
            f"Annotators of kind {kind!r} cannot be loaded from {place}: {error!r}. Install what is missing, or contact"
            " the package's author."
        ) from error


def _places() -> dict[str, str]:
    """Return the package of each built-in kind."""
    return {name: package for package in ANNOTATORS for name in modules_in(package)}


@cache
def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ANNOTATOR_GROUP)}
