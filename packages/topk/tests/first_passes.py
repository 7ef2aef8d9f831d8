"""The first passes that a search may begin with, to be taken whatever this machine would choose."""

from functools import partial

from counterpart_topk import accelerated, exact
from counterpart_topk.accelerated import AcceleratedPass
from counterpart_topk.integers import IntegerTiles, integers_work
from counterpart_topk.products import Products
from counterpart_topk.tiles import CentredTiles, ProductTiles

FIRST_PASSES = {
    "bfloat16": partial(ProductTiles, products=Products("bfloat16")),
    "float32": partial(ProductTiles, products=Products("float32")),
    "float16 on cpu": partial(AcceleratedPass, device="cpu"),  # the same code as on a GPU
} | ({"int16": IntegerTiles} if integers_work() else {})


def take_first(name, monkeypatch):
    monkeypatch.setattr(exact, "_passes", lambda device: [FIRST_PASSES[name], CentredTiles])
    # Several tiles, also of little inputs.
    monkeypatch.setattr(accelerated, "SCORES", 5_000)
    monkeypatch.setattr(accelerated, "PANEL", 70)
    monkeypatch.setattr(accelerated, "CROWDED", -20)
