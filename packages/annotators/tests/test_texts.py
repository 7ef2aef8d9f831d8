"""Text kernels against the paper's definitions: by hand, and by slow references that list every sequence."""

from itertools import combinations
from math import exp, log, log2, sqrt

import numpy as np
import pytest

from counterpart_annotators.classical.documents import (
    WeightedF1,
    inverse_document_frequencies,
    read_documents,
    vocabulary_of,
)
from counterpart_annotators.classical.tag_rank import TagRank
from counterpart_annotators.classical.texts import Text, learn_text
from counterpart_annotators.classical.trigrams import TrigramKernel

TRAINING = [
    ["A brown dog runs on the grass", "A dog is running"],
    ["Two children play with a red ball", "Kids playing ball in the park"],
    ["A small white dog catches a red ball"],
    ["The child and the dog: dog chases child, dog barks"],
    ["A red bus"],
]
KINDS = ["bow1", "bow5", "tagrank", "tri5", "tri5sem"]


def kernel_of(kind: str, texts=TRAINING, **options) -> np.ndarray:
    """The kernel of some documents with each other, learned from the training captions."""
    text = Text(kind, learn_text(kind, TRAINING, **options))
    read = text.kernel.read(text.documents(texts))
    return text.kernel.compare(read, read)


def one_sentence(*words: int):
    """A document of numbered words."""
    return [" ".join(f"w{word}" for word in words)]


def numbered(documents, n_words: int):
    return read_documents(documents, {f"w{word}": word for word in range(n_words)})


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_is_symmetric_and_one_with_itself(kind):
    kernel = kernel_of(kind)
    assert np.allclose(kernel, kernel.T)
    assert np.allclose(kernel.diagonal(), 1)
    assert kernel.min() >= 0


@pytest.mark.parametrize("kind", ["bow1", "bow5", "tagrank", "tri5"])
def test_kernels_without_lexical_similarities_are_positive_semi_definite(kind):
    assert np.linalg.eigvalsh(kernel_of(kind)).min() > -1e-9


def test_bow1_reads_the_first_caption_and_bow5_all():
    one, all_of_them = kernel_of("bow1"), kernel_of("bow5")
    # dog, brown, run, grass and small, white, dog, catch, red, ball; then dog, dog, brown, run, run, grass
    assert one[0, 2] == pytest.approx(1 / (2 * sqrt(6)))
    assert all_of_them[0, 2] == pytest.approx(2 / (sqrt(4 + 1 + 4 + 1) * sqrt(6)))


def test_idf_is_the_logarithm_of_images_over_images_with_the_word_and_one():
    words = vocabulary_of(TRAINING)
    documents = read_documents(TRAINING, {word: place for place, word in enumerate(words)})
    idf = dict(zip(words, inverse_document_frequencies(documents, len(words)), strict=True))
    assert idf["dog"] == pytest.approx(log(5 / 4))
    assert idf["bu"] == pytest.approx(log(5 / 2))


def test_f1_weighs_what_two_bags_share_against_both():
    weights = np.array([1.0, 2.0, 4.0])
    f1 = WeightedF1(weights)
    left, right = (f1.read(numbered([one_sentence(*words)], 3)) for words in ((0, 0, 1), (0, 1, 1, 2)))
    # shared: one word 0 and one word 1, 3; of 4 on the left and 9 on the right
    precision, recall = 3 / 4, 3 / 9
    assert f1.compare(left, right)[0, 0] == pytest.approx(2 * precision * recall / (precision + recall))


def test_a_trigram_kernel_by_hand():
    # "dog chase ball" with "dog ball": words dog and ball, pair dog-ball. 2/4 + 1/16; with itself 3 words, 3 pairs and
    # a triple: 3/4 + 3/16 + 1/64; 2/4 + 1/16.
    kernel = TrigramKernel(np.ones(3), np.empty((0, 0), dtype=np.float32))
    read = kernel.read(numbered([one_sentence(0, 1, 2), one_sentence(0, 2)], 3))
    assert kernel.compare(read, read)[0, 1] == pytest.approx((9 / 16) / sqrt((61 / 64) * (9 / 16)))


def matches(sentence: list[int]) -> dict[tuple[int, ...], set[tuple[int, int]]]:
    """M(s, w) of the paper: substrings that start with w's first word, end with its last, and hold the rest between."""
    found: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for length in (1, 2, 3):
        for places in combinations(range(len(sentence)), length):
            found.setdefault(tuple(sentence[place] for place in places), set()).add((places[0], places[-1]))
    return found


def slow_trigrams(left: list[int], right: list[int], weights, similarity) -> float:
    total = 0.0
    for w, in_left in matches(left).items():
        for v, in_right in matches(right).items():
            if len(w) == len(v):
                alike = np.prod([similarity[a, b] for a, b in zip(w, v, strict=True)])
                idf = sqrt(np.prod(weights[list(w)]) * np.prod(weights[list(v)]))
                total += idf * len(in_left) * len(in_right) * 0.5 ** (2 * len(w)) * alike
    return total


@pytest.mark.parametrize("with_similarities", [False, True])
def test_trigrams_agree_with_a_sum_over_all_sequences(with_similarities):
    rng = np.random.default_rng(3)
    n = 6
    sentences = [rng.integers(0, n, size=length).tolist() for length in (1, 4, 7, 9, 5)]
    vectors = rng.random((n, 2))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    known = vectors[:4] @ vectors[:4].T if with_similarities else np.empty((0, 0))
    similarity = np.eye(n)
    similarity[: len(known), : len(known)] = known
    weights = rng.random(n)
    kernel = TrigramKernel(np.sqrt(weights), known.astype(np.float32))
    read = kernel.read(numbered([one_sentence(*sentence) for sentence in sentences], n))
    slow = np.array([[slow_trigrams(s, t, weights, similarity) for t in sentences] for s in sentences])
    scale = np.sqrt(slow.diagonal())
    assert np.allclose(kernel.compare(read, read), slow / np.outer(scale, scale), atol=1e-6)


def test_sentences_of_a_document_are_summed_before_they_are_scaled():
    kernel = TrigramKernel(np.ones(3), np.empty((0, 0), dtype=np.float32))
    two = [["w0", "w1"], ["w1 w2"]]
    read = kernel.read(numbered(two, 3))
    exact = np.eye(3)
    sentences = [[[0], [1]], [[1, 2]]]
    summed = np.array(
        [[sum(slow_trigrams(s, t, np.ones(3), exact) for s in a for t in b) for b in sentences] for a in sentences]
    )
    assert kernel.compare(read, read)[0, 1] == pytest.approx(summed[0, 1] / sqrt(summed[0, 0] * summed[1, 1]))


def slow_tag_ranks(sentence: list[int], training: list[list[int]]) -> list[dict[int, float]]:
    """Absolute and relative rank of each word of a sentence."""
    absolute, relative = {}, {}
    for word in set(sentence):
        position = np.mean([place for place, other in enumerate(sentence, 1) if other == word])
        places = [place for caption in training for place, other in enumerate(caption, 1) if other == word]
        absolute[word] = 1 / log2(1 + position)
        relative[word] = sum(place > position for place in places) / len(places)
    return [absolute, relative]


def chi_square(a: dict[int, float], b: dict[int, float]) -> float:
    terms = [(a.get(word, 0), b.get(word, 0)) for word in {*a, *b}]
    return sum((x - y) ** 2 / (x + y) for x, y in terms if x + y > 0)


def test_tag_rank_agrees_with_the_mean_of_two_chi_square_kernels():
    rng = np.random.default_rng(5)
    sentences = [rng.integers(0, 6, size=length).tolist() for length in (3, 5, 8, 2, 6)]
    documents = numbered([one_sentence(*sentence) for sentence in sentences], 6)
    kernel = TagRank.learn(documents, 6)
    ranks = [slow_tag_ranks(sentence, sentences) for sentence in sentences]
    distances = np.array([[[chi_square(a[which], b[which]) for b in ranks] for a in ranks] for which in (0, 1)])
    expected = np.mean([np.exp(-distance / distance.mean()) for distance in distances], axis=0)
    read = kernel.read(documents)
    assert np.allclose(kernel.compare(read, read), expected)


def test_tag_rank_by_hand():
    # "w0 w1" and "w1 w0": each word at 1 and at 2, so 1 and 1 / log2(3); half of each word's places come after 1, none
    # after 2. Distances with itself 0, with the other 2 (1 - a)^2 / (1 + a) and 2 x 0.5; their means are half of that.
    documents = numbered([one_sentence(0, 1), one_sentence(1, 0)], 2)
    read = TagRank.learn(documents, 2).read(documents)
    assert TagRank.learn(documents, 2).compare(read, read)[0, 1] == pytest.approx(exp(-2))


def test_words_that_training_never_saw_match_nothing():
    kernel = kernel_of("tri5", [["dog"], ["zebra"]])
    assert kernel[0, 1] == 0
    assert kernel[1, 1] == 0


def test_a_text_without_words_compares_to_nothing_and_breaks_nothing():
    for kind in [*KINDS, "f1"]:
        assert kernel_of(kind, [["the"], ["dog"]])[0].tolist() == [0, 0]


def test_the_same_captions_teach_the_same_kernel():
    first, second = learn_text("tri5sem", TRAINING), learn_text("tri5sem", TRAINING)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_documents_whose_words_have_weight_0_have_no_weight():
    texts = [["dog bus"], ["dog"]]
    text = Text("bow5", learn_text("bow5", texts, "root"))
    assert text.has_weight(text.documents([["dog"], ["cat"]])).tolist() == [False, False]
