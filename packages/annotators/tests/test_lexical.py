from itertools import product
from math import log, log2

import numpy as np
import pytest
from scipy import sparse

from counterpart_annotators.classical.documents import read_documents, vocabulary_of
from counterpart_annotators.classical.texts import learn_text
from counterpart_annotators.classical.word_similarities import (
    alignment_based,
    distributional,
    most_alike,
    similarities,
    taxonomic,
    translations,
)


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


def slow_models(pairs: list[tuple[list[str], list[str]]]) -> dict[tuple[str, str], float]:
    """IBM model 1, then model 2, by counting in dictionaries, five rounds each."""
    chance: dict[tuple, float] = {}
    placed: dict[tuple, float] = {}
    for turn in range(10):
        counts: dict[tuple, float] = {}
        places: dict[tuple, float] = {}
        for source, target in pairs:
            for j, f in enumerate(target):
                sizes = (j, len(source), len(target))
                options = list(enumerate([*source, "NULL"]))
                weights = [chance.get((e, f), 1.0) * placed.get((i, *sizes), 1.0) for i, e in options]
                for (i, e), weight in zip(options, weights, strict=True):
                    counts[e, f] = counts.get((e, f), 0) + weight / sum(weights)
                    places[i, *sizes] = places.get((i, *sizes), 0) + weight / sum(weights)
        sums = {e: sum(count for (other, _), count in counts.items() if other == e) for e, _ in counts}
        chance = {(e, f): count / sums[e] for (e, f), count in counts.items()}
        if turn >= 5:
            groups = {key[1:]: sum(n for other, n in places.items() if other[1:] == key[1:]) for key in places}
            placed = {key: n / groups[key[1:]] for key, n in places.items()}
    return chance


def test_translations_are_those_of_ibm_models_1_and_2():
    texts = [["kid ball", "child ball", "boy"], ["kid bike hill", "child bicycle"], ["dog"]]
    words, documents = read(texts)
    captions = [[[stem(word) for word in text.split()] for text in image] for image in texts]
    expected = slow_models([(a, b) for image in captions for a in image for b in image if a is not b])
    found = translations(documents, len(words)).toarray()
    for (source, target), chance in expected.items():
        if source != "NULL":
            assert found[words.index(source), words.index(target)] == pytest.approx(chance, abs=1e-12)
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


@pytest.mark.parametrize(
    ("nouns", "verbs", "is_alike"),
    [(6, 4, True), (5, 6, False), (4, 1, False)],
    ids=["six of ten are nouns", "five of eleven", "too few"],
)
def test_a_word_is_aligned_as_a_noun_that_is_one_five_times_and_half_the_time(nouns, verbs, is_alike):
    texts = [["walk", "stroll", "hike"]] * nouns + [["walking", "stroll", "hike"]] * verbs
    words, documents = read(texts)
    alike = alignment_based(documents, len(words))
    assert (alike[words.index("walk"), words.index("stroll")] > 0) == is_alike


@pytest.mark.parametrize(("times", "is_alike"), [(25, True), (24, False)])
def test_a_verb_is_aligned_that_occurs_25_times(times, is_alike):
    words, documents = read([["walking", "strolling", "hiking"]] * times)
    assert (alignment_based(documents, len(words))[0, 1] > 0) == is_alike


FREQUENT = [["kid ball bus", "child ball bus"], *[["kid child ball"]] * 6, *[["tree", "ball"]] * 5, ["kid", "tree"]]


def test_tri5sem_takes_the_greater_similarity_of_frequent_words():
    words, documents = read(FREQUENT)
    n = 4  # kid, child, ball and tree occur five times; bus does not
    both = similarities(documents)
    assert sorted(words[:n]) == ["ball", "child", "kid", "tree"]
    frequent = documents.only(documents.words < n)
    assert np.array_equal(both, np.maximum(distributional(frequent, n), alignment_based(frequent, n)))
    assert both.shape == (n, n)


def test_parts_of_tri5sem_are_chosen_one_by_one():
    _, documents = read(FREQUENT)
    frequent = documents.only(documents.words < 4)
    aligned = alignment_based(frequent, 4)
    near, far = (distributional(frequent, 4, context) for context in ("caption", "image"))
    assert np.array_equal(similarities(documents, company="none"), aligned)
    assert np.array_equal(similarities(documents, company="image", align=False), far)
    assert np.allclose(similarities(documents, company="both"), np.maximum((near + far) / 2, aligned))
    assert similarities(documents, company="none", align=False).shape == (0, 0)


def test_the_company_of_a_word_in_an_image_is_that_of_all_its_captions():
    words, documents = read(FREQUENT)
    n = 4
    documents = documents.only(documents.words < n)
    images = [{stem(word) for text in image for word in text.split()} for image in FREQUENT]
    vectors = slow_pmi(images, words[:n])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    expected = vectors @ vectors.T
    expected[expected < 0.01] = 0
    np.fill_diagonal(expected, 1)
    assert np.allclose(distributional(documents, n, "image"), expected, atol=1e-6)


def test_the_sixteen_kernels_of_table_6_differ():
    cells = product(("none", "root"), ("no", "yes"), ("none", "caption", "image", "both"))
    made = [learn_text("tri5", FREQUENT, idf, align=align, company=company) for idf, align, company in cells]
    found = {(a["word_weights"].tobytes(), a.get("similarity", np.zeros(0)).tobytes()) for a in made}
    assert len(found) == len(made) == 16


def test_tri5sem_is_tri5_with_its_parts():
    whole = learn_text("tri5sem", FREQUENT)
    parts = learn_text("tri5", FREQUENT, "root", align="yes", company="caption")
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)


# dog and cat below animal, which is below thing; ball below thing.
THING, ANIMAL, DOG, CAT, BALL = range(5)
ABOVE = {THING: [THING], ANIMAL: [THING, ANIMAL], DOG: [THING, ANIMAL, DOG], CAT: [THING, ANIMAL, CAT]}
ABOVE[BALL] = [THING, BALL]


def test_lins_similarity_is_the_cosine_over_hypernyms():
    counts = np.array([4, 2, 2, 9])
    ancestors = sparse.csr_array([[h in ABOVE[s] for h in range(5)] for s in range(5)])
    alike = taxonomic(counts, np.array([DOG, CAT, BALL, -1]), ancestors)
    # P: thing 1, animal 6/8, dog 4/8, cat 2/8, ball 2/8; the last word has no sense.
    share = {THING: 1.0, ANIMAL: 6 / 8, DOG: 4 / 8, CAT: 2 / 8, BALL: 2 / 8}
    vectors = np.zeros((3, 5))
    for row, sense in enumerate((DOG, CAT, BALL)):
        for above in ABOVE[sense]:
            if share[above] < 1:
                vectors[row, above] = 2 * log(share[above]) / (log(share[sense]) + log(share[above]))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(alike[:3, :3], unit @ unit.T)
    assert alike[0, 1] > 0.1
    assert alike[0, 2] == alike[0, 3] == 0
    assert alike[3, 3] == 1


def test_the_words_most_alike_are_listed_without_the_word_itself_and_those_that_are_not_alike():
    similarity = np.array([[1, 0.2, 0.5, 0.5], [0.2, 1, 0, 0], [0.5, 0, 1, 0], [0.5, 0, 0, 1]], dtype=np.float32)
    words = ["kid", "dog", "child", "boy", "rare"]
    assert most_alike(similarity, words, "kid", 2) == [("child", 0.5), ("boy", 0.5)]
    assert [word for word, _ in most_alike(similarity, words, "dog")] == ["kid"]
    with pytest.raises(ValueError, match="'rare' is not one of the 4 words"):
        most_alike(similarity, words, "rare")
