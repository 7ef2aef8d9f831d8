from math import log2

import numpy as np
import pytest

from counterpart_annotators.classical.documents import read_documents, vocabulary_of
from counterpart_annotators.classical.trigrams import alignment_based, distributional, similarities, translations


def read(texts):
    words = vocabulary_of(texts)
    return words, read_documents(texts, {word: place for place, word in enumerate(words)})


def slow_pmi(sentences: list[set[str]], words: list[str]) -> np.ndarray:
    def p(*wanted):
        return sum(set(wanted) <= sentence for sentence in sentences) / len(sentences)

    return np.array([[max(0.0, log2(p(w, v) / (p(w) * p(v)))) if p(w, v) else 0.0 for v in words] for w in words])


def test_distributional_similarity_is_the_cosine_of_positive_mutual_information():
    rng = np.random.default_rng(1)
    names = ["dog", "cat", "van", "tree", "sofa"]
    texts = [[" ".join(rng.permutation(names)[: rng.integers(1, 3)])] for _ in range(60)]
    words, documents = read(texts)
    vectors = slow_pmi([set(text.split()) for (text,) in texts], words)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = vectors @ vectors.T
    expected[expected < 0.01] = 0
    assert np.allclose(distributional(documents, len(words)), expected, atol=1e-6)


def slow_model_1(pairs: list[tuple[list[str], list[str]]]) -> dict[tuple[str, str], float]:
    chance = {(e, f): 1.0 for source, target in pairs for e in [*source, "NULL"] for f in target}
    for _ in range(5):
        counts = dict.fromkeys(chance, 0.0)
        for source, target in pairs:
            for f in target:
                total = sum(chance[e, f] for e in [*source, "NULL"])
                for e in [*source, "NULL"]:
                    counts[e, f] += chance[e, f] / total
        sums: dict[str, float] = {}
        for (e, _f), count in counts.items():
            sums[e] = sums.get(e, 0) + count
        chance = {(e, f): count / sums[e] for (e, f), count in counts.items()}
    return chance


def test_translations_are_those_of_ibm_model_1():
    texts = [["kid ball", "child ball", "boy"], ["kid bike", "child bicycle"], ["dog"]]
    words, documents = read(texts)
    captions = [[text.split() for text in image] for image in texts]
    pairs = [(a, b) for image in captions for a in image for b in image if a is not b]
    expected = slow_model_1([([stem(w) for w in a], [stem(w) for w in b]) for a, b in pairs])
    found = translations(documents, len(words)).toarray()
    for (source, target), chance in expected.items():
        if source != "NULL":
            assert found[words.index(source), words.index(target)] == pytest.approx(chance)
    assert found.sum() == pytest.approx(len({source for source, _ in expected} - {"NULL"}))


def stem(word: str) -> str:
    from counterpart_annotators.words import stem_of

    return stem_of(word)


def test_words_for_the_same_thing_are_alike_and_words_in_its_company_less_so():
    rng = np.random.default_rng(2)
    things = [(("kid", "child"), ("bike", "bicycle")), (("kid", "child"), ("ball",)), (("dog",), ("bike", "bicycle"))]
    texts = [[" ".join(map(rng.choice, things[image % 3])) for _ in range(5)] for image in range(30)]
    words, documents = read(texts)
    alike = alignment_based(documents, len(words))
    places = {word: words.index(stem(word)) for word in ("kid", "child", "ball", "bike")}
    assert alike[places["kid"], places["child"]] > alike[places["kid"], places["bike"]]
    assert alike[places["kid"], places["child"]] > alike[places["kid"], places["ball"]]


def test_rare_words_are_like_themselves_alone():
    words, documents = read([["kid ball", "child ball"], *[["bus tree"]] * 5])
    kid = words.index("kid")
    assert np.array_equal(alignment_based(documents, len(words))[kid], np.eye(len(words))[kid])


def test_tri5sem_takes_the_greater_similarity_of_frequent_words():
    words, documents = read([["kid ball bus", "child ball bus"], *[["kid child ball"]] * 6])
    n = 3 + 0  # kid, child and ball occur five times; bus does not
    both = similarities(documents)
    assert sorted(words[:n]) == ["ball", "child", "kid"]
    frequent = documents.only(documents.words < n)
    assert np.array_equal(both, np.maximum(distributional(frequent, n), alignment_based(frequent, n)))
    assert both.shape == (n, n)
