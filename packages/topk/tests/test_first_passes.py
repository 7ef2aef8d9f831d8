import numpy as np
import pytest
import torch

from counterpart_topk import bidirectional_topk, products
from counterpart_topk.products import Float32Products
from topk_inputs import balanced_signs, random, unit


@pytest.mark.slow
def test_the_precision_of_the_first_pass_is_reported(first_pass):
    assert bidirectional_topk(*random(np.random.default_rng(7)), 3).precision == first_pass


@pytest.mark.parametrize(("speedup", "precision"), [(2.3, "bfloat16"), (0.7, "float32")])
def test_bfloat16_is_taken_where_a_test_finds_it_faster(speedup, precision, monkeypatch):
    monkeypatch.setattr(products, "bfloat16_speedup", lambda threads: speedup)
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
    of_float32 = Float32Products()
    operands = of_float32.operand(rows), of_float32.operand(columns)
    whole = of_float32.tile(*operands).copy()
    torch.set_float32_matmul_precision("medium")
    try:
        np.testing.assert_array_equal(of_float32.tile(*operands), whole)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
