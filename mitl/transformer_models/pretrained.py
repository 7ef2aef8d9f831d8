"""Published weights, as OpenAI, ViLT's authors or Hugging Face's hub give them out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Tokenizer
from torch import Tensor

from core.errors import CounterpartError, some_of
from mitl.annotators.base import Adopted
from mitl.nn.preparation import Preparation
from mitl.nn.tokenisers import read_tokeniser
from mitl.nn.weights import check_keys, named, read_checkpoint
from mitl.transformer_models.archives import is_archive, read_archive
from mitl.transformer_models.family import Family, Sizes, State
from mitl.transformer_models.model import fitted_preparation, fitted_tokeniser, kept_parts

WHOLE, INDEX, OLD = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"


class _Published(NamedTuple):
    state: State
    configuration: Mapping[str, Any]
    tokenizer: Tokenizer
    preparation: Preparation


def read_pretrained(family: Family, path: Path, settings: Sizes) -> Adopted:
    """Read weights and all that belongs to them; nothing in the files is run, and nothing is fetched.

    Args:
        path: a folder of Hugging Face's (``config.json``, ``model.safetensors`` whole or in shards or
            ``pytorch_model.bin``, a tokeniser, ``preprocessor_config.json`` if there is one) or an original file.
        settings: the machine's; ``tokeniser`` names a vocabulary, for originals and folders that have none.

    Raises:
        CounterpartError: one line for a file that is damaged, holds foreign classes, another network or other sizes
            than its configuration tells, or numbers that are not finite; where the tokeniser is lacking or is another
            network's.
    """
    published = _read_folder(family, path, settings) if path.is_dir() else _read_original(family, path, settings)
    decided = family.sizes(family.configured(published.configuration))
    sizes = {name: value for name, value in decided.items() if name in settings}
    _check_weights(family, published, path)
    _check_pieces(published.tokenizer, decided["pieces"], family.spare, path)
    fitted_tokeniser(family, published.configuration, published.tokenizer, {**settings, **sizes})
    tensors = {name: tensor.contiguous().numpy() for name, tensor in published.state.items()}
    arrays = named(tensors) | kept_parts(published.configuration, published.tokenizer, published.preparation)
    return Adopted(arrays, sizes)


def _read_folder(family: Family, folder: Path, settings: Sizes) -> _Published:
    configuration = _json(folder / "config.json")
    kind = configuration.get("model_type")
    if kind != family.model_type:
        raise CounterpartError(f"{folder} holds a network of type {kind}, not {family.model_type}; choose its kind.")
    told = folder / "preprocessor_config.json"
    preparation = fitted_preparation(family, configuration)
    return _Published(
        family.own_tensors(_joined_shards(folder)),
        configuration,
        read_tokeniser(Path(str(settings["tokeniser"])) if settings["tokeniser"] else folder),
        preparation.adjusted(_json(told)) if told.exists() else preparation,
    )


def _joined_shards(folder: Path) -> State:
    if (folder / INDEX).exists():
        shards = sorted(set(_json(folder / INDEX).get("weight_map", {}).values()))
    else:
        shards = [name for name in (WHOLE, OLD) if (folder / name).exists()][:1]
    # A name with a folder in it would lead out of this one.
    there = [name for name in shards if name == Path(name).name and (folder / name).exists()]
    if not shards or len(there) < len(shards):
        lacking = [name for name in shards if name not in there] or [WHOLE]
        raise CounterpartError(f"{folder} lacks {len(lacking)} files of weights: {some_of(lacking)}. Fetch them again.")
    files = [folder / name for name in there]
    return {name: tensor for file in files for name, tensor in _state_in(read_checkpoint(file), file).items()}


def _read_original(family: Family, path: Path, settings: Sizes) -> _Published:
    checkpoint = read_archive(path) if is_archive(path) else read_checkpoint(path)
    state = _state_in(checkpoint, path)
    if family.original is None or family.convert is None or not family.original(state):
        raise CounterpartError(
            f"{path} holds {len(state)} tensors, but not under the names of an original checkpoint of this kind;"
            " weights for transformers are passed as their folder, with config.json."
        )
    if not settings["tokeniser"]:
        raise CounterpartError(
            f"{path} has no tokeniser in it; pass --option tokeniser=PATH, the vocabulary file of its authors"
            " (bpe_simple_vocab_16e6.txt.gz for CLIP, vocab.txt of bert-base-uncased for ViLT)."
        )
    try:
        converted, configuration = family.convert(state, {**settings, **_told_heads(checkpoint)})
    except (KeyError, ValueError, IndexError) as error:
        raise CounterpartError(
            f"{path} lacks tensors that tell the network's sizes: {error}. Fetch it again."
        ) from error
    return _Published(
        family.own_tensors(converted),
        configuration,
        read_tokeniser(Path(str(settings["tokeniser"]))),
        fitted_preparation(family, configuration),
    )


def _told_heads(checkpoint: object) -> dict[str, int]:
    """Return what Lightning's file tells of the settings that no tensor's shape tells."""
    told = checkpoint.get("hyper_parameters") if isinstance(checkpoint, dict) else None
    heads = told.get("num_heads") if isinstance(told, dict) else None
    return {"heads": heads} if isinstance(heads, int) else {}


def _state_in(checkpoint: object, path: Path) -> State:
    """Return the state dict in what was read of a file; Lightning puts it under ``state_dict``."""
    state = checkpoint.get("state_dict", checkpoint) if isinstance(checkpoint, dict) else None
    if not isinstance(state, dict) or not state or not all(isinstance(tensor, Tensor) for tensor in state.values()):
        raise CounterpartError(f"{path} holds no tensors by name; pass the file or folder that was published.")
    return state


def _check_weights(family: Family, published: _Published, path: Path) -> None:
    expected = {n: tuple(tensor.shape) for n, tensor in family.outline(published.configuration).state_dict().items()}
    check_keys(expected, {name: tuple(tensor.shape) for name, tensor in published.state.items()}, str(path))
    broken = [name for name, tensor in published.state.items() if not np.isfinite(tensor.numpy()).all()]
    if broken:
        raise CounterpartError(
            f"{path} holds NaN or infinity in {len(broken)} tensors: {some_of(broken)}. Fetch it again."
        )


def _check_pieces(tokenizer: Tokenizer, rows: int, spare: int, path: Path) -> None:
    pieces = max(tokenizer.get_vocab().values(), default=-1) + 1
    if not rows - spare <= pieces <= rows:
        raise CounterpartError(
            f"{path} has weights for {rows} pieces of words, but the tokeniser makes {pieces}; it is another network's."
            " Pass --option tokeniser=PATH with the right one."
        )


def _json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CounterpartError(f"{file} cannot be read as JSON: {error}. Fetch the whole folder.") from error
    if not isinstance(content, dict):
        raise CounterpartError(f"{file} must hold a JSON object. Fetch the whole folder again.")
    return content
