import pytest

from counterpart_annotators.nn.vocabularies import SPECIALS, Vocabulary, as_bytes, tokens_of

WORDS = Vocabulary((*SPECIALS, "a", "dog", "runs", "."))


@pytest.mark.parametrize(
    ("caption", "tokens"),
    [
        ("A dog runs.", ["a", "dog", "runs", "."]),
        ("Two dogs play. One is black.", ["two", "dogs", "play", ".", "one", "is", "black", "."]),
        ("what a view!  so wide", ["what", "a", "view", "!", "so", "wide"]),
        ("It isn't a man's hat", ["it", "is", "n't", "a", "man", "'s", "hat"]),
        ('a "stop" sign (red), at 3.5 m', ["a", "``", "stop", "''", "sign", "(", "red", ")", ",", "at", "3.5", "m"]),
        ("  a dog \n", ["a", "dog"]),
        ("", []),
    ],
)  # fmt: skip
def test_tokens_are_those_of_the_treebank(caption, tokens):
    assert list(tokens_of(caption)) == tokens


@pytest.mark.parametrize(
    "caption",
    ["a man's dog, 3.5 m (tall), can't run.", 'the sign says "STOP" -- twice...', "it's 5 o'clock; they'll go & wait"],
)
def test_tokens_of_one_sentence_are_nltks_own(caption):
    from nltk.tokenize import word_tokenize

    assert list(tokens_of(caption)) == word_tokenize(caption.lower(), preserve_line=True)


def test_captions_as_bytes_are_split_as_hals_authors_had_them():
    assert tokens_of(as_bytes("A man.")) == ("b'a", "man", ".", "'")


def test_a_caption_begins_and_ends_and_unknown_words_are_one():
    assert WORDS.ids_of("A cat runs.") == [1, 4, 3, 6, 7, 2]
    assert WORDS.ids_of("") == [1, 2]


def test_a_batch_is_filled_up_with_zeros():
    ids, lengths = WORDS.batch(["a dog", "a dog runs."])
    assert ids.tolist() == [[1, 4, 5, 2, 0, 0], [1, 4, 5, 6, 7, 2]]
    assert lengths.tolist() == [4, 6]


def test_words_that_are_rare_are_not_learned():
    captions = ["a dog", "a dog runs", "the cat"]
    assert Vocabulary.learn(captions, at_least=2).words == (*SPECIALS, "a", "dog")
    assert Vocabulary.learn(captions).words == (*SPECIALS, "a", "cat", "dog", "runs", "the")
