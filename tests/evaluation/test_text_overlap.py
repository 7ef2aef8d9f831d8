import doctest
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import modified_precision
from sklearn.metrics import cohen_kappa_score

from evaluation.metrics import text_overlap
from evaluation.metrics.text_overlap import bleu_1, content_words, filtered, kappas, rouge_1, words_of

WORDS = ["a", "the", "dog", "dogs", "cat", "runs", "running", "red-hat", "two"]
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
references = st.lists(texts, min_size=1, max_size=4)
SCORES = np.random.default_rng(2).random(60)
PEOPLE = np.clip(np.round(4 * SCORES + np.random.default_rng(3).normal(0, 0.7, 60)), 1, 4)


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(text_overlap).failed == 0


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


def test_kappas_are_those_of_scores_turned_into_yes_and_no():
    found = kappas(SCORES, PEOPLE, [0.3, 0.5, 0.7], [2, 3])
    for i, threshold in enumerate([0.3, 0.5, 0.7]):
        for j, level in enumerate([2, 3]):
            assert found[i, j] == pytest.approx(cohen_kappa_score(threshold <= SCORES, level <= PEOPLE))


def test_a_filter_drops_more_and_loses_more_as_its_threshold_rises():
    thresholds = np.linspace(0, 1.01, 12)
    found = filtered(SCORES, PEOPLE, thresholds, good=3)
    assert (found.dropped[0], found.lost[0], found.dropped[-1], found.lost[-1]) == (0, 0, 1, 1)
    assert (np.diff(found.dropped) >= 0).all()
    assert (np.diff(found.lost) >= 0).all()
    good = SCORES[PEOPLE >= 3]
    assert found.lost[5] == pytest.approx((good < thresholds[5]).mean())


def test_without_a_good_pair_nothing_is_known_of_losses():
    assert np.isnan(filtered([0.1, 0.9], [1, 2], [0.5], good=3).lost).all()


@pytest.mark.parametrize("people", [[1.0], [], [[1.0, 2.0]]])
def test_scores_of_other_pairs_are_refused(people):
    with pytest.raises(ValueError, match="two lists of the same pairs"):
        kappas([0.1, 0.2], people, [0.5], [3])
