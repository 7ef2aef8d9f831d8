import pytest

from counterpart_annotators.words import content_words, looks_like_verb, tagged_words


def test_stop_words_go_and_the_rest_is_stemmed():
    assert content_words("The dogs are RUNNING on a T-shirt") == ["dog", "run", "shirt"]


@pytest.mark.parametrize(("word", "verb"), [("running", True), ("jumped", True), ("ring", False), ("red", False)])
def test_an_ending_that_the_stem_loses_makes_a_verb(word, verb):
    assert looks_like_verb(word) is verb


def test_words_are_tagged_in_their_order():
    assert tagged_words("a striped ball is rolling") == [("stripe", True), ("ball", False), ("roll", True)]
