"""Add an annotator: a machine's name, kind and settings, and the weights or lists it brings along."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from django.db import transaction

from corpus.artefacts import Artefact, write_arrays
from corpus.naming import check_name
from journal.errors import CounterpartError, some_of
from journal.events import record
from mitl.annotators import KINDS, module_of
from mitl.models import Annotator

Options = dict[str, str | int | float]


def add_annotator(
    name: str, *, kind: str, checkpoint: Path | None = None, options: Mapping[str, object] | None = None
) -> Annotator:
    """Register a machine. The same again returns the row that is there.

    Args:
        kind: one of KINDS.
        checkpoint: a file of weights, embeddings or lists; read, checked, and kept in the storage.
        options: settings by name, as text or as values; those not given are written down with their defaults.

    Raises:
        CounterpartError: for an unknown kind or option, a value that will not do, a checkpoint that is missing,
            broken or not wanted, or a name that stands for another machine.
    """
    check_name(name)
    if kind not in KINDS:
        raise CounterpartError(f"There is no kind of machine {kind!r}; choose one of {', '.join(KINDS)}.")
    module = module_of(kind)
    settings = _settings(kind, module, options or {})
    _check_checkpoint(kind, module, checkpoint)
    weights = _kept(name, module, checkpoint, settings) if checkpoint else Artefact("", "")
    with transaction.atomic():
        annotator, made = Annotator.objects.get_or_create(
            name=name,
            defaults={
                "kind": kind,
                "options": settings,
                "checkpoint": weights.path,
                "checksum": weights.sha256,
            },
        )
        if made:
            record("added", annotator, actor="add_annotator", kind=kind, options=settings, sha256=weights.sha256)
    _check_same(annotator, kind, settings, weights)
    return annotator


def _settings(kind: str, module: ModuleType, given: Mapping[str, object]) -> Options:
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


def _kept(name: str, module: ModuleType, checkpoint: Path, settings: Options) -> Artefact:
    return write_arrays(f"annotators/{name}", **module.adopt(checkpoint, settings))


def _check_same(annotator: Annotator, kind: str, settings: Options, weights: Artefact) -> None:
    """What was trained here has weights that nobody brought; those are no difference."""
    brought = "" if annotator.trained_on else annotator.checksum
    if (annotator.kind, annotator.options, brought) != (kind, settings, weights.sha256):
        raise CounterpartError(
            f"The annotator {annotator} is there as {annotator.kind} with options"
            f" {json.dumps(annotator.options)} and other weights or settings; choose another name."
        )
