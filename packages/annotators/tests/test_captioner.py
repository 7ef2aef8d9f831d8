"""The caption decoder that VSRN trains with."""

import pytest
import torch
from torch.testing import assert_close

from authors import numbers, weights
from counterpart_annotators.kinds.vsrn.network import LONGEST, Captioner, shortened


@pytest.mark.shared
@pytest.mark.parametrize("variant", ["coco", "f30k"])
def test_the_caption_loss_is_the_authors(shared, variant):
    expected = numbers(shared, f"vsrn_{variant}.io")
    captioner = Captioner(64, 50, hidden=24, word_dim=16)
    captioner.load_state_dict(weights(shared, f"vsrn_{variant}.captioner.weights"))
    loss = captioner(expected["gcn_features"], expected["token_ids"], expected["lengths"])
    assert_close(loss.detach().double(), expected["caption_loss"], rtol=1e-4, atol=0)


def test_the_loss_is_that_of_captions_one_by_one():
    torch.manual_seed(0)
    captioner, regions = Captioner(6, 9, hidden=5, word_dim=4), torch.randn(2, 3, 6)
    ids, lengths = torch.tensor([[1, 5, 6, 2], [1, 7, 2, 0]]), torch.tensor([4, 3])
    alone = [captioner(regions[b : b + 1], ids[b : b + 1, :n], lengths[b : b + 1]) for b, n in enumerate([4, 3])]
    assert_close(captioner(regions, ids, lengths), (alone[0] + alone[1]) / 2)


def test_a_captioner_that_knows_nothing_gives_every_word_the_same_chance():
    captioner = Captioner(6, 8, hidden=5, word_dim=4)
    for weight in captioner.decoder.out.parameters():
        torch.nn.init.zeros_(weight)
    loss = captioner(torch.randn(1, 3, 6), torch.tensor([[1, 5, 2]]), torch.tensor([3]))
    # Three things are predicted: the word, the end, and that nothing follows.
    assert_close(loss, 3 * torch.tensor(8.0).log())


def test_a_longer_caption_is_cut_and_still_ends():
    ids = torch.full((2, LONGEST + 5), 7)
    ids[0, 3:] = torch.tensor([2] + [0] * (LONGEST + 1))
    cut, lengths = shortened(ids, torch.tensor([4, LONGEST + 5]))
    assert cut.shape == (2, LONGEST)
    assert lengths.tolist() == [4, LONGEST]
    assert cut[0, 3:5].tolist() == [2, 0]
    assert cut[1, -2:].tolist() == [7, 2]
