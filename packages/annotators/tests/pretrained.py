"""Published layouts for tests: fixtures as the files and folders that people download, and tiny networks of our own."""

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from counterpart_annotators.nn.families import Family, State, restore_model, stored_parts
from counterpart_annotators.nn.tokenisers import SPECIAL, byte_pair_ids, byte_pairs, word_pieces
from counterpart_annotators.nn.weights import named
from counterpart_annotators.options import Value, defaults

FIXTURES = "fixtures/annotators"


def words(count: int) -> Tokenizer:
    """A tokeniser of exactly ``count`` word pieces."""
    return word_pieces({word: number for number, word in enumerate([*SPECIAL, *(f"w{n}" for n in range(count - 5))])})


def letters() -> Tokenizer:
    """A tokeniser of byte pairs that was taught nothing: 514 pieces."""
    return byte_pairs(byte_pair_ids([]), [])


def network_of(family: Family, state: State, configuration: dict[str, Any], context: int) -> Any:
    """The network of a state dict, by way of the arrays that are kept of it."""
    tensors = {name: tensor.numpy() for name, tensor in state.items()}
    parts = stored_parts(configuration, letters(), family.prepared_for(configuration))
    return restore_model(family, named(tensors) | parts, {"context": context}, "the fixture", "cpu").network


def fixture_state(shared: Path, name: str) -> State:
    return load_file(shared / FIXTURES / f"{name}.weights.safetensors")


def fixture_json(shared: Path, name: str) -> dict[str, Any]:
    return json.loads((shared / FIXTURES / name).read_text())


def fixture_arrays(shared: Path, name: str) -> dict[str, NDArray]:
    with np.load(shared / FIXTURES / name) as arrays:
        return dict(arrays)


def write_folder(folder: Path, family: Family, configuration: dict[str, Any], tokenizer: Tokenizer | None) -> Path:
    """A folder like those of Hugging Face's hub, with first weights."""
    folder.mkdir()
    torch.manual_seed(1)
    network = family.fresh(configuration)
    save_file(network.state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**configuration, "model_type": family.model_type}))
    if tokenizer:
        tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def settings_of(kind: str, **changed: Value) -> dict[str, Value]:
    """A kind's defaults, and what is changed of them."""
    return defaults(import_module(f"counterpart_annotators.kinds.{kind}").OPTIONS) | changed


def module_of(kind: str) -> ModuleType:
    return import_module(f"counterpart_annotators.kinds.{kind}.annotator")
