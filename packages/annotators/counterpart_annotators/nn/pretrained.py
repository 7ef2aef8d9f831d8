"""Published weights of transformers: Hugging Face folders, and original checkpoints under their authors' names."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile, is_zipfile

import numpy as np
from tokenizers import Tokenizer

from counterpart_annotators.base import Adopted
from counterpart_annotators.nn.families import Family, State, stored_parts
from counterpart_annotators.nn.preparation import Preparation
from counterpart_annotators.nn.tokenisers import read_tokeniser
from counterpart_annotators.nn.weights import ALONE, check_keys, named, read_checkpoint, strip_prefix, weights_in
from counterpart_annotators.options import Settings
from counterpart_metrics.errors import CounterpartError, counted, some_of
from counterpart_metrics.json_gate import read_json

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
OLD = "pytorch_model.bin"


class _Published(NamedTuple):
    state: State
    configuration: Mapping[str, Any]
    tokenizer: Tokenizer
    preparation: Preparation


def read_pretrained(family: Family, path: Path, settings: Settings) -> Adopted:
    """Read weights and all that belongs to them; nothing in the files is run.

    Args:
        path: a Hugging Face folder (``config.json``, ``model.safetensors`` whole or in shards or ``pytorch_model.bin``,
            a tokeniser, optionally ``preprocessor_config.json``), or an original checkpoint.
        settings: the annotator's; ``tokeniser`` names a vocabulary, for originals and folders without one.

    Raises:
        CounterpartError: for a damaged file, one with foreign classes, another network or sizes than its configuration
            says, NaN or infinity; a missing tokeniser, or another network's.
    """
    published = _read_folder(family, path, settings) if path.is_dir() else _read_original(family, path, settings)
    decided = family.sizes(family.configured(published.configuration))
    sizes = {name: value for name, value in decided.items() if name in settings}
    _check_weights(family, published, path)
    _check_pieces(published.tokenizer, decided["pieces"], family.spare, path)
    family.tokeniser_for(published.configuration, published.tokenizer, {**settings, **sizes})
    tensors = {name: tensor.contiguous().numpy() for name, tensor in published.state.items()}
    parts = stored_parts(published.configuration, published.tokenizer, published.preparation)
    return Adopted(named(tensors) | parts, sizes)


def rename(name: str, renamed: tuple[tuple[str, str], ...]) -> str:
    """Apply all replacements of a table (pattern, replacement) to a name."""
    for pattern, replacement in renamed:
        name = re.sub(pattern, replacement, name)
    return name


def count_layers(state: State, prefix: str) -> int:
    """Count the numbered parts after ``prefix`` in a state dict's names."""
    return len({name[len(prefix) :].partition(".")[0] for name in state if name.startswith(prefix)})


def _read_folder(family: Family, folder: Path, settings: Settings) -> _Published:
    configuration = _json(folder / "config.json")
    kind = configuration.get("model_type")
    if kind != family.model_type:
        raise CounterpartError(f"{folder} has a network of type {kind}, not {family.model_type}; choose its kind.")
    preprocessor = folder / "preprocessor_config.json"
    preparation = family.prepared_for(configuration)
    return _Published(
        family.own_tensors(_joined_shards(folder)),
        configuration,
        read_tokeniser(Path(str(settings["tokeniser"])) if settings["tokeniser"] else folder),
        preparation.adjusted(_json(preprocessor)) if preprocessor.exists() else preparation,
    )


def _joined_shards(folder: Path) -> State:
    if (folder / INDEX).exists():
        shards = sorted(set(_json(folder / INDEX).get("weight_map", {}).values()))
    else:
        shards = [name for name in (WHOLE, OLD) if (folder / name).exists()][:1]
    # A name with a folder in it would lead out of this one.
    present = [name for name in shards if name == Path(name).name and (folder / name).exists()]
    if not shards or len(present) < len(shards):
        missing = [name for name in shards if name not in present] or [WHOLE]
        raise CounterpartError(
            f"{folder} does not contain {counted(len(missing), 'file')} of weights: {some_of(missing)}. Download them."
        )
    files = [folder / name for name in present]
    return {name: tensor for file in files for name, tensor in _state_in(read_checkpoint(file), file).items()}


def _read_original(family: Family, path: Path, settings: Settings) -> _Published:
    if _is_torchscript(path):
        raise CounterpartError(
            f"{path} is a TorchScript archive, which does not load; pass the Hugging Face folder of these weights"
            " (openai/clip-vit-base-patch32 for CLIP ViT-B/32)."
        )
    checkpoint = read_checkpoint(path)
    state = _state_in(checkpoint, path)
    if family.original is None or family.convert is None or not family.original(state):
        raise CounterpartError(
            f"{path} has {len(state)} tensors, but not under the names of an original checkpoint of this kind;"
            " weights for transformers are passed as their folder, with config.json."
        )
    if not settings["tokeniser"]:
        raise CounterpartError(
            f"{path} contains no tokeniser; pass --option tokeniser=PATH, the vocabulary file of its authors"
            " (bpe_simple_vocab_16e6.txt.gz for CLIP, vocab.txt of bert-base-uncased for ViLT)."
        )
    try:
        converted, configuration = family.convert(state, {**settings, **_heads_in(checkpoint)})
    except (KeyError, ValueError, IndexError) as error:
        raise CounterpartError(f"{path} has no tensors that decide its sizes: {error}. Download it again.") from error
    return _Published(
        family.own_tensors(converted),
        configuration,
        read_tokeniser(Path(str(settings["tokeniser"]))),
        family.prepared_for(configuration),
    )


def _is_torchscript(path: Path) -> bool:
    if not is_zipfile(path):
        return False
    with ZipFile(path) as archive:
        return any(name.partition("/")[2].startswith("code/") for name in archive.namelist())


def _heads_in(checkpoint: object) -> dict[str, int]:
    """Return the setting in a Lightning file that no tensor's shape decides."""
    parameters = checkpoint.get("hyper_parameters") if isinstance(checkpoint, dict) else None
    heads = parameters.get("num_heads") if isinstance(parameters, dict) else None
    return {"heads": heads} if isinstance(heads, int) else {}


def _state_in(checkpoint: object, path: Path) -> State:
    """Return the state dict of a file, which Lightning and trainings have in another dict."""
    state = weights_in(checkpoint)
    if not isinstance(state, dict):
        raise CounterpartError(f"{path} has no tensors by name; pass the file or folder that was published, or {ALONE}")
    return strip_prefix(state)


def _check_weights(family: Family, published: _Published, path: Path) -> None:
    expected = {n: tuple(tensor.shape) for n, tensor in family.outline(published.configuration).state_dict().items()}
    check_keys(expected, {name: tuple(tensor.shape) for name, tensor in published.state.items()}, str(path))
    broken = [name for name, tensor in published.state.items() if not np.isfinite(tensor.numpy()).all()]
    if broken:
        raise CounterpartError(
            f"{path} holds NaN or infinity in {len(broken)} tensors: {some_of(broken)}. Download it again."
        )


def _check_pieces(tokenizer: Tokenizer, rows: int, spare: int, path: Path) -> None:
    pieces = max(tokenizer.get_vocab().values(), default=-1) + 1
    if not rows - spare <= pieces <= rows:
        raise CounterpartError(
            f"{path} has weights for {rows} word pieces, but the tokeniser has {pieces}; it is another network's."
            " Pass --option tokeniser=PATH with the right one."
        )


def _json(file: Path) -> dict[str, Any]:
    try:
        content = read_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise CounterpartError(f"{file} cannot be read as JSON: {error}. Download the whole folder.") from error
    if not isinstance(content, dict):
        raise CounterpartError(f"{file} must hold a JSON object. Download the whole folder again.")
    return content
