"""A few bytes of gzip can become gigabytes of one line, and a parser keeps a path for each level of nested lists: such
files are refused before they are read to their end."""

import gzip
import json
from functools import partial

import pytest

from core.errors import CounterpartError
from core.untrusted import BoundedJson
from corpus.imports import import_collection
from corpus.input_files import json_items
from corpus.matches import import_matches
from tests.corpus.files import line
from tests.factories import make_collection

ENDLESS = 12 << 20  # bytes; only the first few may be unpacked


@pytest.fixture
def unpacked(monkeypatch):
    """The number of bytes that were unpacked."""
    counts = [0]
    whole = gzip._GzipReader.read

    def counted(self, size=-1):
        part = whole(self, size)
        counts[0] += len(part)
        return part

    monkeypatch.setattr(gzip._GzipReader, "read", counted)
    return counts


@pytest.mark.parametrize(
    ("read", "start", "message"),
    [
        (partial(import_collection, "zoo", format="jsonl"), json.dumps(line()) + '\n{"text": "', "line 2: longer than"),
        (partial(import_collection, "zoo", format="coco"), '{"images": [{"filename": "', "without an end"),
        (lambda path: import_matches(make_collection(), source="cxc", path=path), "image,caption\n0,0\n", "line 3|CSV"),
    ],
    ids=["JSON lines", "JSON", "tables of matches"],
)
def test_of_one_text_without_an_end(db, tmp_path, unpacked, read, start, message):
    path = tmp_path / "endless.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write(start + "a" * ENDLESS)
    with pytest.raises(CounterpartError, match=message):
        read(path=path)
    assert unpacked[0] < ENDLESS / 4


@pytest.mark.parametrize(
    ("format", "level"), [("coco", "["), ("karpathy", '{"a":'), ("coco", '[{"text": "[]", "more":')]
)
def test_of_json_in_very_many_levels(db, tmp_path, format, level):
    path = tmp_path / "captions.json"
    path.write_text('{"images": ' + level * 200_000)
    with pytest.raises(CounterpartError, match="more than 100 levels"):
        import_collection("zoo", format=format, path=path)


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_brackets_in_texts_are_no_levels(tmp_path, size):
    texts = ['a "[" \\', "[[{" * 40, "}", '\\"[', "ü["] * 2
    path = tmp_path / "texts.json"
    path.write_text(json.dumps([[text] for text in texts]))
    with path.open("rb") as file:
        read = BoundedJson(path.name, file).read
        assert b"".join(iter(lambda: read(size), b"")) == path.read_bytes()
    assert list(json_items(path, "item.item")) == texts
