import torch
from torch.testing import assert_close

from counterpart_annotators.nn.layers import PIE, Attention


def test_attention_is_the_softmax_of_two_layers_by_hand():
    attention = Attention(2)
    attention.load_state_dict({"w_1.weight": torch.tensor([[1.0, 0.0]]), "w_2.weight": torch.tensor([[2.0]])})
    parts = torch.tensor([[[0.0, 5.0], [1.0, 7.0]]])
    pooled, weights = attention(parts)
    second = torch.sigmoid(2 * torch.tanh(torch.tensor(1.0)))
    assert_close(weights, torch.stack([1 - second, second])[None, :, None])
    assert_close(pooled, torch.stack([second, 5 * (1 - second) + 7 * second])[None, None])


def test_padded_parts_get_no_attention():
    torch.manual_seed(0)
    attention, parts = Attention(4, heads=3), torch.rand(2, 5, 4)
    padded = torch.tensor([[False, False, False, True, True], [False] * 5])
    pooled, weights = attention(parts, padded)
    assert (weights[0, 3:] == 0).all()
    assert_close(pooled[0], attention(parts[:1, :3])[0][0])


def test_one_head_has_no_axis_of_its_own():
    whole, parts = torch.rand(2, 6), torch.rand(2, 5, 4)
    assert PIE(4, 6, heads=1)(whole, parts).embedding.shape == (2, 6)
    assert PIE(4, 6, heads=3)(whole, parts).residual.shape == (2, 3, 6)
