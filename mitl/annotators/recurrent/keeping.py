"""Weights and words of a machine: taken from published files, and found again in what is kept for it."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from core.errors import CounterpartError
from core.files import StoredFile, read_arrays
from mitl.annotators.base import Arrays, Settings
from mitl.models import Annotator
from mitl.nn.sizes import TRUNKS, TrunkSize
from mitl.nn.vocabularies import Vocabulary, read_vocabulary
from mitl.nn.weights import Published

WORDS = "words"
TABLE = "txt_enc.embed.weight"  # a row a word


def kept_arrays(annotator: Annotator) -> Arrays:
    """Return what is kept for a machine. Raises CounterpartError if it has no weights yet."""
    if not annotator.checkpoint:
        raise CounterpartError(
            f"it is not trained yet; run: manage.py train_annotator {annotator.name} --collection NAME"
        )
    return read_arrays(StoredFile(annotator.checkpoint, annotator.checksum))


def kept_words(arrays: Arrays) -> Vocabulary:
    """Return the vocabulary in what is kept for a machine."""
    return Vocabulary(tuple(arrays[WORDS].tolist()))


def word_array(vocabulary: Vocabulary) -> Arrays:
    """Return a vocabulary as it is kept for a machine."""
    return {WORDS: np.array(vocabulary.words)}


def vocabulary_for(published: Published, settings: Settings, where: Path) -> Vocabulary:
    """Return the words that the option names.

    Raises CounterpartError where it names none, or not those of the weights.
    """
    file = str(settings["vocabulary"])
    if not file:
        raise CounterpartError(f"{where} has no words of its own; pass --option vocabulary=FILE with those it learned.")
    vocabulary = read_vocabulary(Path(file))
    check_vocabulary(vocabulary, published, file, where)
    return vocabulary


def check_vocabulary(vocabulary: Vocabulary, published: Published, file: str | Path, where: Path) -> None:
    """Raise CounterpartError where the words of ``file`` are not as many as the weights of ``where`` know."""
    rows = size_of(published.tensors, TABLE, 0, where)
    if len(vocabulary) != rows:
        raise CounterpartError(
            f"{file} has {len(vocabulary)} words and {where} was trained with {rows}; pass the vocabulary that belongs"
            " to it."
        )


def size_of(tensors: Arrays, name: str, axis: int, where: Path | str) -> int:
    """Return the length of one axis of a tensor. Raises CounterpartError where there is no such tensor or axis."""
    if name not in tensors or tensors[name].ndim <= axis:
        raise CounterpartError(f"{where} lacks the tensor {name}; it holds weights of another kind of machine.")
    return int(tensors[name].shape[axis])


def trunk_in(tensors: Arrays, prefix: str, where: Path | str) -> str:
    """Return the name of the residual trunk whose tensors begin with ``prefix``.

    Raises CounterpartError for one that has no name.
    """
    blocks: Mapping[str, set[str]] = {f"layer{stage}": set() for stage in range(1, 5)}
    for name in tensors:
        stage, _, rest = name.removeprefix(prefix).partition(".")
        if name.startswith(prefix) and stage in blocks:
            blocks[stage].add(rest.partition(".")[0])
    size = TrunkSize(tuple(map(len, blocks.values())), size_of(tensors, f"{prefix}conv1.weight", 0, where))
    for name, known in TRUNKS.items():
        if known == size:
            return name
    counts = "-".join(map(str, size.blocks))
    raise CounterpartError(f"{where} has a trunk of {counts} blocks, {size.width} wide; known are {', '.join(TRUNKS)}.")
