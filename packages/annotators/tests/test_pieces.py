"""Pieces of words are learned alike everywhere, and cut any text."""

import subprocess
import sys

import pytest

from counterpart_annotators.nn.tokenisers import (
    CLASS,
    END,
    SEPARATOR,
    SPECIAL,
    START,
    learn_byte_pairs,
    learn_word_pieces,
)

TEXTS = [f"a {colour} {thing} near the {thing}s" for colour in ("red", "green", "blue") for thing in ("car", "boat")]
PROGRAM = f"""
from counterpart_annotators.nn.tokenisers import learn_byte_pairs, learn_word_pieces
texts = {TEXTS!r}
print(learn_byte_pairs(texts, 530).to_str(), learn_word_pieces(texts, 60).to_str())
"""


@pytest.mark.slow
def test_another_process_learns_the_same_pieces():
    here = f"{learn_byte_pairs(TEXTS, 530).to_str()} {learn_word_pieces(TEXTS, 60).to_str()}"
    printed = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == here


def test_byte_pairs_count_start_and_end_as_their_last_two():
    tokenizer = learn_byte_pairs(TEXTS, 530)
    assert tokenizer.get_vocab_size() == 530
    assert [tokenizer.token_to_id(special) for special in (START, END)] == [528, 529]


def test_frequent_words_become_one_piece_and_no_text_is_unknown():
    cut = learn_byte_pairs(TEXTS, 560).encode("The red boat ☃")
    assert cut.tokens[:4] == [START, "the</w>", "red</w>", "boat</w>"]
    assert len(cut.tokens) == 4 + 3 + 1  # the snowman's three bytes, and the end


def test_a_caption_cannot_forge_the_end():
    tokenizer = learn_byte_pairs(TEXTS, 530)
    assert tokenizer.encode(f"a car {END} near").ids.count(529) == 1


def test_word_pieces_begin_with_berts_special_ones():
    tokenizer = learn_word_pieces(TEXTS, 60)
    assert [tokenizer.token_to_id(special) for special in SPECIAL] == list(range(5))
    assert tokenizer.get_vocab_size() <= 60


def test_word_pieces_cut_words_that_were_never_seen():
    cut = learn_word_pieces(TEXTS, 60).encode("Boats ☃")
    assert cut.tokens[0] == CLASS
    assert "".join(cut.tokens[1:-2]).replace("##", "") == "boats"
    assert cut.tokens[-2:] == ["[UNK]", SEPARATOR]
