"""A few bytes of gzip can become gigabytes of one line: such a file is refused before it is read to its end."""

import gzip
import json

import pytest

from core.errors import CounterpartError
from corpus.imports import import_collection
from corpus.matches import import_matches
from tests.corpus.files import line
from tests.factories import make_collection

ENDLESS = 40 << 20  # bytes; only the first few may be unpacked


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


def endless(path, start: str):
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write(start + "a" * ENDLESS)
    return path


def test_of_json_lines(db, tmp_path, unpacked):
    path = endless(tmp_path / "captions.jsonl.gz", json.dumps(line()) + "\n" + '{"text": "')
    with pytest.raises(CounterpartError, match="line 2: longer than 1,048,576 characters"):
        import_collection("zoo", format="jsonl", path=path)
    assert unpacked[0] < ENDLESS / 4


@pytest.mark.parametrize("format", ["coco", "karpathy"])
def test_of_json(db, tmp_path, unpacked, format):
    path = endless(tmp_path / "captions.json.gz", '{"images": [{"filename": "')
    with pytest.raises(CounterpartError, match="has 1,048,576 characters without a quote"):
        import_collection("zoo", format=format, path=path)
    assert unpacked[0] < ENDLESS / 4


def test_of_tables_of_matches(db, tmp_path, unpacked):
    path = endless(tmp_path / "matches.csv.gz", "image,caption\n0,0\n")
    with pytest.raises(CounterpartError, match="line 3: longer than 1,048,576 characters|not valid CSV"):
        import_matches(make_collection(), source="cxc", path=path)
    assert unpacked[0] < ENDLESS / 4
