"""Small networks in the files that their authors would have published."""

import pickle
from argparse import Namespace
from pathlib import Path

import torch
from torch import Tensor, nn

from mitl.nn.vocabularies import SPECIALS

WORDS = (*SPECIALS, "a", "all", "black", "blue", "green", "is", "it", "of", "red", "square", "white", "yellow")


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
