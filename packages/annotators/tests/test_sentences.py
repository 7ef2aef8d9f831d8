import pytest
import torch
from torch.testing import assert_close

from counterpart_annotators.nn.layers import Sentences, padding, read

LENGTHS = torch.tensor([2, 4, 1])


@pytest.fixture
def words():
    torch.manual_seed(0)
    return torch.rand(3, 4, 5)


def test_padding_is_what_is_beyond_a_length():
    expected = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 1]], dtype=torch.bool)
    assert padding(LENGTHS, 4).equal(expected)


def test_legacy_reads_the_last_word_and_a_backward_half_that_saw_it_alone(words):
    rnn = torch.nn.GRU(5, 3, batch_first=True, bidirectional=True)
    for row, length in enumerate(LENGTHS):
        forward = rnn(words[row : row + 1, :length])[0][0, -1, :3]
        backward = rnn(words[row : row + 1, length - 1 : length])[0][0, 0, 3:]
        assert_close(read(rnn, words, LENGTHS)[row], torch.cat([forward, backward]))


def test_final_reads_the_last_state_of_either_direction(words):
    rnn = torch.nn.GRU(5, 3, batch_first=True, bidirectional=True)
    for row, length in enumerate(LENGTHS):
        outputs = rnn(words[row : row + 1, :length])[0][0]
        assert_close(read(rnn, words, LENGTHS, "final")[row], torch.cat([outputs[-1, :3], outputs[0, 3:]]))


def test_words_beyond_a_caption_change_nothing():
    torch.manual_seed(0)
    reader = Sentences(9, 4, 6, bidirectional=True)
    ids = torch.tensor([[1, 4, 5, 2], [1, 2, 0, 0]])
    other = torch.tensor([[1, 4, 5, 2], [1, 2, 7, 8]])
    assert_close(reader(ids, torch.tensor([4, 2])), reader(other, torch.tensor([4, 2])))
