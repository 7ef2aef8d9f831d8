"""Add annotators, with the weights or lists they bring, and export trained ones as a file to add elsewhere."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile

import numpy as np
from django import forms
from django.db import transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.files.stored_files import StoredFile, check_new_file, whole_file, write_arrays
from core.parameters import OFF_PAGE, POSITIONAL, Option, Parameters, choices, clean
from core.text import NameField, check_name, counted
from core.untrusted import read_json
from counterpart_annotators.base import Adopted, Arrays
from counterpart_annotators.exported_annotator import LABEL, as_bytes, digest, in_32_bits
from counterpart_annotators.options import Settings, Value, defaults
from counterpart_metrics.array_lists import read_foreign_arrays
from mitl.annotators import AnnotatorKind, kind_of, kinds, module_of, stored_arrays
from mitl.models import Annotator


class Origin(Parameters):
    """Where weights come from, for the annotator's page: who published them, and under which licence."""

    source: Annotated[
        str,
        forms.CharField(required=False, max_length=400, help_text="who published the weights, or where they come from"),
        Option(metavar="TEXT"),
    ] = ""
    licence: Annotated[
        str, forms.CharField(required=False, max_length=200, help_text="licence of the weights"), Option(metavar="TEXT")
    ] = ""


UNKNOWN = Origin()


class AddParameters(Origin):
    """A new annotator; its settings are what its kind declares."""

    name: Annotated[str, NameField(help_text="name of the annotator: letters, digits, - and _"), POSITIONAL]
    kind: Annotated[str, forms.ChoiceField(choices=lambda: choices(*kinds()), help_text="kind of annotator"), OFF_PAGE]
    checkpoint: Annotated[
        Path | None, "file or folder of weights, embeddings or lists", OFF_PAGE, Option(metavar="PATH")
    ] = None
    tell_settings: Annotated[bool, "print the settings of the kind and their defaults, add nothing", OFF_PAGE] = False


def add_annotator(
    name: str,
    *,
    kind: str,
    checkpoint: Path | None = None,
    options: Mapping[str, object] | None = None,
    files: Mapping[str, Path] | None = None,
    origin: Origin = UNKNOWN,
    actor: str = "add_annotator",
) -> Annotator:
    """Add an annotator. Repeating the same returns the existing row.

    Args:
        kind: one of ``mitl.annotators.kinds()``.
        checkpoint: a file of weights, embeddings or lists; read, checked, and stored.
        options: settings by name, as text or values; others are decided by the checkpoint, or get their defaults.
        files: files that options name and that are only read together with the checkpoint, such as an upload's; the
            option keeps the name.
        origin: shown on the annotator's page; of an existing annotator it is replaced if one is given.

    Raises:
        CounterpartError: for an unknown kind or option, an invalid value, a checkpoint that is missing, broken, not
            needed or in conflict with an option, or the name of a different annotator.
    """
    check_name(name)
    if kind not in kinds():
        raise CounterpartError(f"Unknown kind of annotator {kind!r}; choose one of {', '.join(kinds())}.")
    properties = kind_of(kind)
    file_paths = {name: str(path) for name, path in (files or {}).items()}
    settings = settings_from(
        kind, properties, {**(options or {}), **{name: Path(path).name for name, path in file_paths.items()}}
    )
    _check_checkpoint(kind, properties, checkpoint)
    weights = StoredFile("", "")
    if checkpoint:
        adopted = read_export(checkpoint, kind) or module_of(kind).adopt(checkpoint, {**settings, **file_paths})
        settings = _decided(settings, adopted, set(options or {}), checkpoint)
        weights = write_arrays(f"annotators/{name}", **adopted.arrays)
    with transaction.atomic():
        annotator, created = Annotator.objects.get_or_create(
            name=name,
            defaults={
                "kind": kind,
                "options": settings,
                "checkpoint": weights.path,
                "checksum": weights.sha256,
                "architecture": architecture(kind, settings, adopted.arrays) if checkpoint else {},
            },
        )
        if created:
            record("added", annotator, actor=actor, kind=kind, options=settings, sha256=weights.sha256)
    _check_same(annotator, kind, settings, weights)
    merged = Origin(source=origin.source or annotator.source, licence=origin.licence or annotator.licence)
    set_origin(annotator, merged, actor=actor)
    return annotator


def architecture(kind: str, settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe a network for the annotator's page: the kind's description, and the number of its parameters."""
    describe = getattr(module_of(kind), "architecture", None)
    learned = sum(array.size for array in arrays.values() if array.dtype.kind == "f")
    return {**(describe(settings, arrays) if describe else {}), "parameters": f"{learned:,}"}


def export_annotator(annotator: Annotator, path: Path, *, half: bool = False) -> int:
    """Write an annotator's weights and settings to ``path``, an .npz; return its size in bytes.

    ``half``: floats in 16 bits, half the size; embeddings then differ in about their fourth digit.
    Raises CounterpartError for an annotator without weights, another suffix, or an existing file.
    """
    check_new_file(path, ".npz", "Annotators")
    if not annotator.checkpoint:
        raise CounterpartError(f"{annotator} has no weights to export; train it first (train_annotator).")
    arrays = stored_arrays(annotator)
    if half:
        arrays = {
            name: array.astype(np.float16) if array.dtype == np.float32 else array for name, array in arrays.items()
        }
    label = {
        "kind": annotator.kind,
        "settings": annotator.options,
        "trained_on": annotator.trained_on,
        "sha256": digest(arrays),
    }
    with whole_file(path) as part:
        np.savez_compressed(part, allow_pickle=False, **arrays, **{LABEL: as_bytes(json.dumps(label, sort_keys=True))})
    return path.stat().st_size


def read_export(path: Path, kind: str) -> Adopted | None:
    """Return the contents of an export, floats in 32 bits; None for another file.

    Raises CounterpartError for an annotator of another kind, and for a file that was changed.
    """
    if path.suffix != ".npz" or path.is_dir():
        return None
    arrays = _labelled_arrays(path)
    if arrays is None:
        return None
    label = _label(path, arrays.pop(LABEL).tobytes())
    if label["kind"] != kind:
        raise CounterpartError(
            f"{path} holds an annotator of kind {label['kind']}; add it with --kind {label['kind']}."
        )
    if label["sha256"] != digest(arrays):
        raise CounterpartError(f"{path} was changed after it was written; export the annotator again.")
    return Adopted(in_32_bits(arrays), label["settings"])


def _label(path: Path, content: bytes) -> dict[str, Any]:
    try:
        label = read_json(content)
        return {name: label[name] for name in ("kind", "sha256", "settings")}
    except (ValueError, TypeError, KeyError) as error:
        raise CounterpartError(f"The label of {path} cannot be read; export the annotator again.") from error


def settings_from(kind: str, properties: AnnotatorKind, given: Mapping[str, object]) -> dict[str, Value]:
    """Return all settings of a kind, the defaults where none is given. Raises CounterpartError for invalid ones."""
    options = properties.options
    unknown = sorted(set(given) - set(options))
    if unknown:
        known = f"it has {', '.join(options)}" if options else "it has none"
        raise CounterpartError(
            f"{counted(len(unknown), 'unknown option')} for kind {kind}: {some_of(unknown)}; {known}."
        )
    return {name: clean(name, field, given.get(name, field.initial)) for name, field in options.items()}


def _check_checkpoint(kind: str, properties: AnnotatorKind, checkpoint: Path | None) -> None:
    if checkpoint is None:
        if properties.checkpoint == "required":
            raise CounterpartError(f"Annotators of kind {kind} need files; pass --checkpoint PATH.")
        return
    if properties.checkpoint == "none":
        raise CounterpartError(f"Annotators of kind {kind} have no weights; leave --checkpoint out.")
    if not checkpoint.exists():
        raise CounterpartError(f"No checkpoint at {checkpoint}; check the path.")


def _decided(settings: Settings, adopted: Adopted, given: set[str], checkpoint: Path) -> dict[str, Value]:
    """Return the settings as the checkpoint decides them. Raises CounterpartError where options contradict it."""
    contradicted = [
        f"{name} is {value}, not {settings[name]}"
        for name, value in adopted.settings.items()
        if name in given and settings[name] != value
    ]
    if contradicted:
        raise CounterpartError(
            f"{checkpoint} contradicts {counted(len(contradicted), 'option')}: {some_of(contradicted)}. Leave them out."
        )
    return {**settings, **adopted.settings}


def set_origin(annotator: Annotator, origin: Origin, *, actor: str) -> None:
    """Say where an annotator's weights come from, and which licence they have."""
    changed = {name: text for name, text in vars(origin).items() if text != getattr(annotator, name)}
    if not changed:
        return
    with transaction.atomic():
        Annotator.objects.filter(pk=annotator.pk).update(**changed)
        record("described", annotator, actor=actor, **changed)
    annotator.refresh_from_db()


def _check_same(annotator: Annotator, kind: str, settings: Settings, weights: StoredFile) -> None:
    """Weights that were trained here are not a difference, nor are options that the kind did not have yet."""
    imported = "" if annotator.trained_on else annotator.checksum
    options = defaults(kind_of(annotator.kind).declared) | annotator.options
    if (annotator.kind, options, imported) != (kind, settings, weights.sha256):
        raise CounterpartError(
            f"An annotator {annotator} of kind {annotator.kind} already exists with other weights or settings (options"
            f" {json.dumps(annotator.options)}); choose another name."
        )


def _labelled_arrays(path: Path) -> Arrays | None:
    """Return all arrays of an .npz with a label; None for any other file, which its own reader will check."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            if LABEL not in stored.files:
                return None
        return read_foreign_arrays(path)
    except (OSError, ValueError, EOFError, AttributeError, BadZipFile):
        return None
