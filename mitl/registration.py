"""Add an annotator: a machine's name, kind and settings, and the weights or lists it brings along."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from django.db import transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.files import StoredFile, write_arrays
from core.naming import check_name
from mitl.annotators import kinds, module_of
from mitl.annotators.base import Adopted, Arrays, Settings, Value
from mitl.exporting import read_export
from mitl.models import Annotator


@dataclass(frozen=True)
class Origin:
    """Where weights come from, as a page tells it: who made them, and on what terms they may be used."""

    source: str = ""
    licence: str = ""


def add_annotator(
    name: str,
    *,
    kind: str,
    checkpoint: Path | None = None,
    options: Mapping[str, object] | None = None,
    origin: Origin = Origin(),
) -> Annotator:
    """Register a machine. The same again returns the row that is there.

    Args:
        kind: one of ``mitl.annotators.kinds``.
        checkpoint: a file of weights, embeddings or lists; read, checked, and kept in the storage.
        options: settings by name, as text or as values; those not given are written down as the checkpoint decides
            them, or with their defaults.
        origin: told on the machine's page; of an annotator that is there, it is replaced where one is given.

    Raises:
        CounterpartError: for an unknown kind or option, a value that will not do, a checkpoint that is missing,
            broken, not wanted or at odds with an option, or a name that stands for another machine.
    """
    check_name(name)
    if kind not in kinds():
        raise CounterpartError(f"There is no kind of machine {kind!r}; choose one of {', '.join(kinds())}.")
    module = module_of(kind)
    settings = _settings(kind, module, options or {})
    _check_checkpoint(kind, module, checkpoint)
    weights = StoredFile("", "")
    if checkpoint:
        adopted = read_export(checkpoint, kind) or module.adopt(checkpoint, settings)
        settings = _decided(settings, adopted, set(options or {}), checkpoint)
        weights = write_arrays(f"annotators/{name}", **adopted.arrays)
    with transaction.atomic():
        annotator, made = Annotator.objects.get_or_create(
            name=name,
            defaults={
                "kind": kind,
                "options": settings,
                "checkpoint": weights.path,
                "checksum": weights.sha256,
                "architecture": architecture(kind, settings, adopted.arrays) if checkpoint else {},
            },
        )
        if made:
            record("added", annotator, actor="add_annotator", kind=kind, options=settings, sha256=weights.sha256)
    _check_same(annotator, kind, settings, weights)
    _tell_origin(annotator, origin)
    return annotator


def architecture(kind: str, settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the page of a machine tells of its network: the module's own words, and how many numbers it holds."""
    tell = getattr(module_of(kind), "architecture", None)
    learned = sum(array.size for array in arrays.values() if array.dtype.kind == "f")
    return {**(tell(settings, arrays) if tell else {}), "parameters": f"{learned:,}"}


def _settings(kind: str, module: ModuleType, given: Mapping[str, object]) -> dict[str, Value]:
    unknown = sorted(set(given) - set(module.OPTIONS))
    if unknown:
        known = f"it knows {', '.join(module.OPTIONS)}" if module.OPTIONS else "it has none"
        raise CounterpartError(f"{len(unknown)} options are unknown to {kind}: {some_of(unknown)}; {known}.")
    return {name: option.read(name, given.get(name, option.default)) for name, option in module.OPTIONS.items()}


def _check_checkpoint(kind: str, module: ModuleType, checkpoint: Path | None) -> None:
    if checkpoint is None:
        if module.CHECKPOINT == "required":
            raise CounterpartError(f"A machine of kind {kind} needs its files; pass --checkpoint PATH.")
        return
    if module.CHECKPOINT == "none":
        raise CounterpartError(f"A machine of kind {kind} has no weights; leave --checkpoint out.")
    if not checkpoint.exists():
        raise CounterpartError(f"There is no checkpoint at {checkpoint}; check the path.")


def _decided(settings: Settings, adopted: Adopted, given: set[str], checkpoint: Path) -> dict[str, Value]:
    """Return the settings as the checkpoint decides them. Raises CounterpartError where others were asked for."""
    at_odds = [
        f"{name} is {value}, not {settings[name]}"
        for name, value in adopted.settings.items()
        if name in given and settings[name] != value
    ]
    if at_odds:
        raise CounterpartError(f"{checkpoint} contradicts {len(at_odds)} options: {some_of(at_odds)}. Leave them out.")
    return {**settings, **adopted.settings}


def _tell_origin(annotator: Annotator, origin: Origin) -> None:
    told = {name: text for name, text in vars(origin).items() if text and text != getattr(annotator, name)}
    if not told:
        return
    with transaction.atomic():
        Annotator.objects.filter(pk=annotator.pk).update(**told)
        record("described", annotator, actor="add_annotator", **told)
    annotator.refresh_from_db()


def _check_same(annotator: Annotator, kind: str, settings: Settings, weights: StoredFile) -> None:
    """What was trained here has weights that nobody brought; those are no difference."""
    brought = "" if annotator.trained_on else annotator.checksum
    if (annotator.kind, annotator.options, brought) != (kind, settings, weights.sha256):
        raise CounterpartError(
            f"The annotator {annotator} is there as {annotator.kind} with options"
            f" {json.dumps(annotator.options)} and other weights or settings; choose another name."
        )
