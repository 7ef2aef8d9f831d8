import numpy as np
import pytest
import torch

from counterpart_topk import bidirectional_topk, exact, integers, products
from counterpart_topk.products import Products
from counterpart_topk.sides import open_side
from topk_inputs import balanced_signs, random, unit


@pytest.mark.slow
def test_the_precision_of_the_first_pass_is_reported(first_pass):
    assert bidirectional_topk(*random(np.random.default_rng(7)), 3).precision == first_pass


@pytest.mark.parametrize(
    ("integers_work", "speedup", "precision"),
    [(False, 2.3, "bfloat16"), (False, 0.7, "float32"), (True, 0.7, "int16"), (True, 2.3, "bfloat16")],
)
def test_the_fastest_precision_is_taken(integers_work, speedup, precision, monkeypatch):
    if integers_work and not integers.integers_work():
        pytest.skip("this processor does not multiply integers")
    monkeypatch.setattr(exact, "integers_work", lambda: integers_work)
    monkeypatch.setattr(exact, "bfloat16_speedup", lambda threads: speedup)
    steps = set()
    found = bidirectional_topk(*random(np.random.default_rng(7)), 3, progress=lambda step, *_: steps.add(step))
    assert found.precision == precision
    assert steps == {f"searching in {precision}"}


def test_the_speedup_is_measured():
    assert products.bfloat16_speedup(1) > 0


@pytest.mark.slow
def test_equal_scores_in_every_precision_are_searched_in_float64(first_pass):
    assert bidirectional_topk(*balanced_signs(np.random.default_rng(7)), 3).precision == "float64"


def test_products_are_whole_where_torch_may_round_its_operands():
    rows, columns = (unit(np.random.default_rng(seed), 512, 512) for seed in (1, 2))
    of_float32 = Products("float32")
    operands = of_float32.operand(rows), of_float32.operand(columns)
    whole = of_float32.tile(*operands).copy()
    torch.set_float32_matmul_precision("medium")
    try:
        np.testing.assert_array_equal(of_float32.tile(*operands), whole)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_integers_are_left_out_where_their_products_are_wrong(monkeypatch):
    monkeypatch.setattr(integers, "multiply_block", lambda rows, panels, keys: keys.fill(1))
    assert not integers.integers_work.__wrapped__()


@pytest.mark.skipif(not integers.integers_work(), reason="this processor does not multiply integers")
@pytest.mark.parametrize("dimensions", [1, 7, 512])
def test_keys_of_integers_are_within_their_margins(dimensions):
    """Each vector is compared with its opposite too: the largest products, of both signs."""
    one, other = (open_side(unit(np.random.default_rng(seed), 40, dimensions), "vectors") for seed in (1, 2))
    one, other = (
        open_side(np.concatenate([side.values, -side.values, other.values]), "vectors") for side in (one, other)
    )
    tiles = integers.IntegerTiles(one, other)
    rows, (panels, width) = tiles.strip(slice(0, 120)), tiles.panel(slice(0, 120))
    keys = np.empty((120, len(panels) * integers.WIDTH), np.int16)
    integers.multiply_block(rows, panels, keys)
    products = one.values.astype(np.float64) @ other.values.T
    errors = np.abs(keys[:, :width] * tiles.unit + tiles.unit / 2 - products) - tiles.unit / 2
    assert width == 120
    assert (2 * errors.max(1) <= tiles.margins()[0]).all()
    assert (2 * errors.max(0) <= tiles.margins()[1]).all()
