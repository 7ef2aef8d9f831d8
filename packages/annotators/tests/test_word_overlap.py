"""BLEU-1 and ROUGE-1 against nltk and a slow count."""

import doctest
from collections import Counter
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import modified_precision
from scipy import sparse

from counterpart_annotators import words as words_module
from counterpart_annotators.bags import bleu_1_table, common_weights
from counterpart_annotators.words import OVERLAPS, REFERENCES, bleu_1, content_words, rouge_1, words_of

WORDS = ["a", "the", "dog", "dogs", "cat", "runs", "running", "red-hat", "two"]
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
references = st.lists(texts, min_size=1, max_size=4)


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(words_module).failed == 0


@pytest.mark.parametrize(
    ("one", "words"),
    [
        ("It's 3.5 m: DOG_2 naïve Straße", ["it", "s", "3", "5", "m", "dog_2", "naïve", "strasse"]),
        ("一只狗、3人 Tシャツ 川", ["一只", "只狗", "3", "人", "t", "シャ", "ャツ", "川"]),
        ("สุนัขวิ่ง", ["สุนั", "นัข", "ขวิ่", "วิ่ง"]),
        ("लड़का और लड़की", ["लड़का", "और", "लड़की"]),
        ("공원에서 논다", ["공원에서", "논다"]),
        ("كَلْبٌ يَجري", ["كَلْبٌ", "يَجري"]),
        ("👩🏽‍🚀👍🏿 🇰🇷🇯🇵 ❤️ 1️⃣ → €5", ["👩🏽🚀", "👍🏿", "🇰🇷", "🇯🇵", "❤", "1⃣", "→", "€", "5"]),
        ("© $5 + 2° !?", ["5", "2"]),  # signs of Latin-1 are no words, as ever
    ],
)
def test_words_of_every_script(one, words):
    assert words_of(one) == [normalize("NFC", word) for word in words]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (normalize("NFD", "Tiếng Việt"), "tiếng việt"), ("３人がﾊﾞｽ", "3人がバス"), ("ﬁsh\u00ading", "fishing"),
        ("می\u200cخواهم", "میخواهم"), ("❤\ufe0f", "❤"), ("İstanbul", "i\u0307stanbul"), ("ﻛﻠﺐ", "كلب"),
    ],
)  # fmt: skip
def test_a_word_written_in_two_ways_is_one(one, other):
    assert words_of(one) == words_of(other) != []


@pytest.mark.parametrize("words", [content_words, words_of])
@given(caption=texts, others=references)
def test_bleu_1_is_nltks_precision_of_single_words(words, caption, others):
    theirs = modified_precision([words(other) for other in others], words(caption), 1) if words(caption) else 0
    assert bleu_1(caption, others, words=words) == pytest.approx(float(theirs))


@pytest.mark.slow
@pytest.mark.parametrize("words", [content_words, words_of])
@given(caption=texts, others=references)
def test_rouge_1_is_the_share_of_the_references_words_that_the_caption_has(words, caption, others):
    found = total = 0
    for other in others:
        left = Counter(words(caption))
        for word in words(other):
            total += 1
            if left[word]:
                left[word] -= 1
                found += 1
    assert rouge_1(caption, others, words=words) == pytest.approx(found / total if total else 0)


def test_stems_count_and_stop_words_do_not():
    assert rouge_1("The dogs are running", ["a dog runs"]) == 1
    assert rouge_1("The dogs are running", ["a dog runs"], words=words_of) == 0
    assert bleu_1("the dog", ["the cat"]) == 0
    assert bleu_1("the dog", ["the cat"], words=words_of) == 0.5


def test_a_worked_case_of_bleu_1():
    """Two, dog and run, of which the references have dog and run."""
    assert bleu_1("Two dogs are running", ["a dog runs", "the dog jumped"]) == pytest.approx(2 / 3)


def test_a_table_of_bleu_1_by_hand():
    # Two, dog and run; the first image's captions have dog and run, the second's two.
    table = bleu_1_table(["Two dogs are running", "it is"], [["a dog runs", "the dog jumped"], ["two cats"]])
    assert table.tolist() == [pytest.approx([2 / 3, 0]), pytest.approx([1 / 3, 0])]


@pytest.mark.parametrize("words", [content_words, words_of])
@given(captions=st.lists(texts, min_size=1, max_size=4), others=st.lists(references, min_size=1, max_size=4))
def test_a_table_of_bleu_1_is_that_of_every_pair(words, captions, others):
    slow = [[bleu_1(caption, texts, words=words) for caption in captions] for texts in others]
    assert bleu_1_table(captions, others, words=words) == pytest.approx(np.array(slow))


def test_shared_words_weigh_their_smaller_count():
    left, right = sparse.csr_array([[3, 1, 0]]), sparse.csr_array([[2, 5, 1], [0, 0, 4]])
    assert common_weights(left, right).tolist() == [[3, 0]]
    assert common_weights(left, right, np.array([0.5, 2, 9])).tolist() == [[3, 0]]
    assert common_weights(sparse.csr_array((1, 3)), right).tolist() == [[0, 0]]


def test_the_references_of_the_papers_tables_are_parts_of_an_images_captions():
    captions = ["pool", "one", "two"]
    assert {name: captions[part] for name, part in REFERENCES.items()} == {
        "all": captions,
        "first": ["pool"],
        "rest": ["one", "two"],
        "second": ["one"],
    }


def test_bleu_of_tables_8_and_9_takes_words_as_they_are_and_rouge_stems():
    scores = {name: OVERLAPS[name][0]("The dogs are running", ["a dog runs"]) for name in ("bleu-all", "rouge-all")}
    assert scores == {"bleu-all": 0, "rouge-all": 1}


def test_words_of_place_are_kept():
    assert content_words("near the tree, behind a dog") == ["near", "tree", "behind", "dog"]


@pytest.mark.parametrize(("caption", "references"), [("it is", ["it is"]), ("", ["dog"]), ("dog", [])])
def test_without_words_in_common_bleu_1_is_0(caption, references):
    assert bleu_1(caption, references) == 0
