"""Vocabularies in the published forms; others are refused, and nothing in a pickle is run."""

import json
import os
import pickle
import sys
from types import ModuleType

import pytest

from counterpart_annotators.nn.vocabularies import SPECIALS, read_vocabulary
from counterpart_metrics.errors import CounterpartError

WORDS = (*SPECIALS, "a", "café", "dog")
IDS = {word: place for place, word in enumerate(WORDS)}
FIELDS = {"word2idx": IDS, "idx2word": {place: word for word, place in IDS.items()}, "idx": len(WORDS)}
# What Python 2 writes for an object of class Vocabulary whose word2idx has byte strings, in protocol 2.
PYTHON2 = (
    b"\x80\x02c__main__\nVocabulary\nq\x00)\x81q\x01}q\x02U\x08word2idxq\x03}q\x04("
    + b"".join(b"U%c%sK%c" % (len(word.encode()), word.encode(), place) for word, place in IDS.items())
    + b"usb."
)


class Vocabulary:
    def __init__(self, fields):
        self.__dict__.update(fields)


class Harmful:
    def __reduce__(self):
        return os.system, ("touch harmed",)


def pickled_as_main(value, protocol) -> bytes:
    """Pickle an object of class ``__main__.Vocabulary``, as the authors' scripts did."""
    main, before = ModuleType("__main__"), sys.modules["__main__"]
    main.Vocabulary, Vocabulary.__module__ = Vocabulary, "__main__"
    sys.modules["__main__"] = main
    try:
        return pickle.dumps(value, protocol=protocol)
    finally:
        sys.modules["__main__"], Vocabulary.__module__ = before, __name__


@pytest.mark.parametrize(
    "content",
    [
        pickled_as_main(Vocabulary(FIELDS), 2),
        pickled_as_main(Vocabulary(FIELDS), 4),
        PYTHON2,
        pickle.dumps(FIELDS, protocol=2),
    ],
    ids=["object", "newer object", "object of Python 2", "dict"],
)
def test_every_pickled_form_is_read(tmp_path, content):
    (tmp_path / "vocab.pkl").write_bytes(content)
    assert read_vocabulary(tmp_path / "vocab.pkl").words == WORDS


def test_json_is_read(tmp_path):
    (tmp_path / "vocab.json").write_text(json.dumps(FIELDS))
    assert read_vocabulary(tmp_path / "vocab.json").words == WORDS


@pytest.mark.parametrize("content", [pickle.dumps(Harmful()), pickle.dumps({**FIELDS, "idx": Harmful()}, protocol=2)])
def test_a_foreign_class_is_named_and_not_run(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vocab.pkl").write_bytes(content)
    with pytest.raises(CounterpartError, match="posix.system"):
        read_vocabulary(tmp_path / "vocab.pkl")
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read"),
        (PYTHON2[:60], "cannot be read"),
        (b"nonsense", "cannot be read"),
        (pickle.dumps([1, 2]), "has no dict word2idx"),
        (pickle.dumps({"word2idx": {1: "a"}}), "has no dict word2idx"),
        (pickle.dumps({"word2idx": {**IDS, "cat": 3}}), "ids of its 8 words"),
        (pickle.dumps({"word2idx": {**IDS, "cat": "9"}}), "ids of its 8 words"),
        (pickle.dumps({"word2idx": {"a": 0, "b": 1}}), "not with a, b"),
    ],
)
def test_an_invalid_vocabulary_is_refused_in_one_line(tmp_path, content, message):
    (tmp_path / "vocab.pkl").write_bytes(content)
    with pytest.raises(CounterpartError, match=message) as raised:
        read_vocabulary(tmp_path / "vocab.pkl")
    assert "\n" not in str(raised.value)


def test_a_vocabulary_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CounterpartError, match="vocab.pkl"):
        read_vocabulary(tmp_path / "vocab.pkl")
