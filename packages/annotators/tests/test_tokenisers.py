"""Captions become the ids that the authors' tokenisers give, whatever file the vocabulary is in."""

import gzip
import json

import pytest

from counterpart_annotators.nn.tokenisers import (
    END,
    START,
    Tokeniser,
    learn_byte_pairs,
    learn_word_pieces,
    read_tokeniser,
    repaired,
)
from counterpart_metrics.errors import CounterpartError
from pretrained import letters

MERGES = ["#version: 0.2", "c a", "ca t</w>", "d o", "do g</w>"]
TEXTS = ["two cats", "a cat and a dog", "dogs, dogs; dogs!"]
# 256 bytes, 256 at a word's end, and the four merges in their order.
CAT, DOG, FIRST, LAST = 513, 515, 516, 517


@pytest.fixture
def merges(tmp_path):
    path = tmp_path / "bpe_simple_vocab_16e6.txt.gz"
    path.write_bytes(gzip.compress("\n".join(MERGES).encode()))
    return path


def test_a_list_of_merges_numbers_pieces_as_clip_does(merges):
    assert read_tokeniser(merges).encode("cat dog").ids == [FIRST, CAT, DOG, LAST]


def test_words_end_and_begin_where_clip_has_them_do_so(merges):
    tokenizer = read_tokeniser(merges)
    a, s = ord("a") - ord("!"), ord("s") - ord("!")
    assert tokenizer.encode("A  CAT").ids == [FIRST, 256 + a, CAT, LAST]
    assert tokenizer.encode("cat's 12").tokens[1:-1] == ["cat</w>", "'", "s</w>", "1</w>", "2</w>"]
    assert tokenizer.encode("s").ids == [FIRST, 256 + s, LAST]


def test_clips_tokeniser_in_transformers_gives_the_same_ids(merges, tmp_path):
    from transformers.models.clip.tokenization_clip import CLIPTokenizer

    ours = read_tokeniser(merges)
    pairs = [tuple(line.split()) for line in MERGES[1:]]
    theirs = CLIPTokenizer(vocab=ours.get_vocab(), merges=pairs)
    for text in [*TEXTS, "Ünïcode & co.", "it's 2021 — isn't it?", "''s", "\N{SNOWMAN}!"]:
        assert ours.encode(text).ids == theirs(text)["input_ids"]


def test_berts_tokeniser_in_transformers_gives_the_same_ids():
    from transformers.models.bert.tokenization_bert import BertTokenizer

    ours = learn_word_pieces(TEXTS, 60)
    theirs = BertTokenizer(vocab=ours.get_vocab())
    for text in [*TEXTS, "Çats & dögs", "dog-cat", "zebra"]:
        assert ours.encode(text).ids == theirs(text)["input_ids"]


def test_merges_in_a_folder_take_the_ids_of_its_vocabulary(tmp_path):
    ids = {piece: number + 7 for piece, number in learn_byte_pairs([], 0).get_vocab().items()}
    (tmp_path / "merges.txt").write_text("#version: 0.2\nc a\n")
    (tmp_path / "vocab.json").write_text(json.dumps({**ids, "ca": 6}))
    assert read_tokeniser(tmp_path).encode("cat").ids[:2] == [ids[START], 6]


def test_a_words_file_is_read_line_by_line(tmp_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncat\n##s\n")
    assert read_tokeniser(tmp_path).encode("A cats zebra").ids == [2, 5, 6, 7, 1, 3]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("merges.txt.gz", b"no gzip"),
        ("vocab.txt", b"one word a line\nbut no class"),
        ("tokenizer.json", b"{}"),
        ("merges.txt", b"\xff\xfe"),
        ("missing.txt", None),
    ],
)
def test_an_invalid_tokeniser_is_refused_in_one_line(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CounterpartError, match=f"{name} cannot be read") as refused:
        read_tokeniser(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_folder_without_a_tokeniser_is_refused(tmp_path):
    with pytest.raises(CounterpartError, match="merges.txt or vocab.txt"):
        read_tokeniser(tmp_path)


def test_long_captions_are_cut_and_keep_their_end():
    tokeniser = Tokeniser(letters(), context=5)
    start, end = (letters().token_to_id(special) for special in (START, END))
    first = [ord(letter) - ord("!") for letter in "abc"]
    assert tokeniser.ids_of(["abcdefgh"]) == [[start, *first, end]]


def test_rows_are_filled_up_to_the_longest_with_a_mask():
    ids, mask = Tokeniser(letters(), context=9, pad=7).batch([[1, 2, 3], [4]])
    assert ids.tolist() == [[1, 2, 3], [4, 7, 7]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_escapes_of_html_are_undone_twice():
    assert repaired(" cats &amp;amp; dogs &lt;3 ") == "cats & dogs <3"
