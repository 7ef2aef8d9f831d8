"""Small networks in the files that their authors would have published."""

import pickle
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from counterpart_annotators.base import Adopted
from counterpart_annotators.nn.vocabularies import SPECIALS
from counterpart_annotators.options import Value
from pretrained import module_of, settings_of
from regioned import CHANNELS

WORDS = (*SPECIALS, "a", "all", "black", "blue", "green", "is", "it", "of", "red", "square", "white", "yellow")
VECTOR = 6
SIZES: dict[str, dict[str, Value]] = {
    "pvse": {"embed": 16, "word": 8, "trunk": "small", "embeddings": 2},
    "pcme": {"embed": 16, "word": 8, "trunk": "small"},
    "vse": {"embed": 16, "word": 8, "trunk": "small"},
    "vsrn": {"embed": 16, "word": 8},
}
LENGTHS = {"vse": [VECTOR], "vsrn": [CHANNELS]}  # of what such a network reads of a picture


def make_network(kind: str, **changed: Value) -> Any:
    """A small network with first weights."""
    torch.manual_seed(0)
    build = import_module(f"counterpart_annotators.kinds.{kind}.network").build
    network = build(settings_of(kind, **SIZES[kind] | changed), len(WORDS), *LENGTHS.get(kind, []))
    if kind == "vsrn":
        for block in range(1, 5):  # A fresh block is the identity.
            nn.init.normal_(network.img_enc.get_submodule(f"Rs_GCN_{block}").W[1].weight)
    return network.eval()


def adopted_from(path: Path, kind: str, **options: Value) -> Adopted:
    """What a kind reads of a file, with all settings."""
    settings = settings_of(kind, **options)
    adopted = module_of(kind).adopt(path, settings)
    return Adopted(adopted.arrays, {**settings, **adopted.settings})


def write_vocabulary(folder: Path, words=WORDS) -> Path:
    """A pickled dict of words to ids."""
    path = folder / f"{len(words)}words.pkl"
    path.write_bytes(pickle.dumps({"word2idx": {word: place for place, word in enumerate(words)}}))
    return path


def write_checkpoint(folder: Path, layout: str, network: nn.Module, **options) -> Path:
    """The network's state in one of the published layouts, with the options of its training."""
    path = folder / f"{layout}.pth.tar"
    torch.save(LAYOUTS[layout](network.state_dict(), Namespace(**options)), path)
    return path


def halves(state: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    return [
        {name.removeprefix(side): tensor for name, tensor in state.items() if name.startswith(side)}
        for side in ("img_enc.", "txt_enc.")
    ]


def _wrapped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """As VSE++ puts the trunk alone into DataParallel."""
    return {name.replace("cnn.", "cnn.module.", 1): tensor for name, tensor in state.items()}


LAYOUTS = {
    "plain": lambda state, options: state,
    "dataparallel": lambda state, options: {f"module.{name}": tensor for name, tensor in state.items()},
    "training": lambda state, options: {"args": options, "epoch": 3, "best_score": 1.0, "model": state},
    "old list": lambda state, options: [
        {name.replace("pie_net", "our_model"): tensor for name, tensor in half.items()} for half in halves(state)
    ],
    "vse": lambda state, options: {
        "epoch": 3,
        "model": halves(_wrapped(state)),
        "best_rsum": 1.0,
        "opt": options,
        "Eiters": 7,
    },
}
