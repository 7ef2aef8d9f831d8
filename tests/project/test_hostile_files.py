"""Every reader of files is given what none expects: it refuses it in a sentence that can be stored, or reads it."""

import csv
import json
from collections.abc import Callable
from functools import partial
from io import StringIO
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from annotation.people.qualification_questions import read_sentences
from corpus.match_files import FileKeys as MatchKeys
from corpus.match_files import read_pairs
from counterpart_annotators.nn.vocabularies import read_vocabulary
from counterpart_metrics.ids import Ids
from dataset.outside_judgments import READERS as TOOLS
from dataset.outside_judgments.outside_answer import opening_of
from dataset.outside_judgments.released_forms import LONG, RAW, read_long, read_raw
from evaluation.analyses.benchmarks_analysis import _read as read_scores
from evaluation.ranking_files import stream_rankings
from evaluation.scores.benchmark_scores import read_categories
from hits.packing.designs import load_design
from mitl.annotators.files import _read_lists
from simulation.profiles import load_profile
from tests.corpus.files import records_of
from tests.hostile import DIGITS, IN_JSON, survives, write

__all__ = ["write"]

HERE = "here is the value"
IDS = Ids.of_numbers([1], [1])
Read = Callable[[Path], object]


def rankings(path: Path) -> object:
    return stream_rankings(path, IDS)


def pairs(path: Path, direction: str = "") -> object:
    return list(read_pairs(path, keys=MatchKeys({}, {}), direction=direction)[0])


def tool(name: str) -> Read:
    return lambda path: TOOLS[name].read(path, opening_of(path))


def captions(format: str) -> Read:
    return partial(records_of, format)


LINE = {"caption_id": 1, "image_id": 1, "file_name": "a.jpg", "text": HERE}
ARGILLA = {"fields": {"image": 1}, "responses": {"q": [{"value": HERE, "user_id": HERE}]}, "status": "completed"}
POTATO = {"user_id": HERE, "instance_id": "1", "labels": {"match": {"1": HERE}}}
STUDIO = {"data": {"image": HERE}, "annotations": [{"completed_by": 1, "result": [{"value": {"choices": [HERE]}}]}]}
IN_OBJECTS: dict[str, tuple[Read, object]] = {
    "a.jsonl": (captions("jsonl"), LINE),
    "ids.jsonl": (captions("jsonl"), LINE | {"caption_id": HERE}),
    "coco.json": (captions("coco"), {"images": [{"id": 1, "file_name": HERE}], "annotations": [{"id": HERE}]}),
    "karpathy.json": (captions("karpathy"), {"images": [{"cocoid": 1, "filename": HERE, "sentences": []}]}),
    "matches.json": (partial(pairs, direction="i2t"), {"1": [HERE]}),
    "rankings.json": (rankings, {"i2t": {"1": [HERE]}}),
    "queries.json": (rankings, {"i2t": {HERE: [1]}, "t2i": {"1": [HERE]}}),
    "x_predictions.json": (rankings, {"default": {"test": {"1": {"1": HERE}}}}),
    "categories.json": (read_categories, {"1": [HERE]}),
    "instances.json": (read_categories, {"images": [{"id": 1}], "annotations": [{"image_id": 1, "category_id": HERE}]}),
    "vocabulary.json": (read_vocabulary, {"word2idx": {"<pad>": 0, "<start>": 1, "<end>": 2, "<unk>": HERE}}),
    "lists.json": (_read_lists, {"i2t": {"1": [HERE]}, "t2i": {"1": [HERE]}}),
    "design.json": (load_design, {"name": HERE, "candidates": 1, "positives": 1, "negatives": HERE}),
    "profile.json": (lambda path: load_profile(str(path)), {"pace": HERE}),
    "argilla.json": (tool("argilla"), [ARGILLA]),
    "studio.json": (tool("label-studio"), [STUDIO]),
    "potato.jsonl": (tool("potato"), POTATO),
}
"""Readers of JSON, with a file that has a value somewhere."""
IN_CELLS: dict[str, tuple[Read, str]] = {
    "flickr.token": (captions("flickr"), f"{HERE}.jpg#0\t{HERE}\n"),
    "pairs.csv": (pairs, f"image,caption,score\n1,{HERE},{HERE}\n"),
    "sentences.csv": (read_sentences, f"sentence,written\n{HERE},right\n"),
    "long.csv": (partial(read_long, round="", default=""), f"{','.join(LONG)}\n{','.join([HERE] * len(LONG))}\n"),
    "raw.csv": (read_raw, f"{','.join(RAW)}\n{','.join([HERE] * len(RAW))}\n"),
    "scores.csv": (read_scores, f"model,{HERE}\na,{HERE}\n"),
    "run.trec": (rankings, f"1 Q0 1 {HERE} {HERE} x\n1 Q0 {HERE} 2 0.5 x\n"),
    "studio.csv": (tool("label-studio"), f"annotator,image,choice\n{HERE},1,{HERE}\n"),
    "potato.csv": (tool("potato"), f"user_id,instance_id,match:::1\n{HERE},1,{HERE}\n"),
}  # fmt: skip
"""Readers of lines and tables."""
CELLS = [
    "a\0b",
    DIGITS,
    "1e999",
    "nan",
    "٣",
    "0001-01-01T00:00:00",
    "9999-12-31T23:59:59+00:00",
    "[" * 5_000,
    "x" * 200_000,
]


@pytest.mark.parametrize("name", IN_OBJECTS)
def test_no_reader_of_json_accepts_or_survives_badly_what_cannot_be_stored(write, name):
    read, content = IN_OBJECTS[name]
    for what, value in IN_JSON.items():
        path = write(name, json.dumps(content).encode().replace(f'"{HERE}"'.encode(), value))
        assert survives(lambda path=path: read(path)), what


@pytest.mark.parametrize(("name", "cell"), [*product(IN_CELLS, CELLS)], ids=lambda one: one[:12])
def test_no_reader_of_lines_fails(write, name, cell):
    read, content = IN_CELLS[name]
    said = survives(lambda: read(write(name, content.replace(HERE, cell).encode())))
    assert said or "\0" not in cell


@pytest.mark.parametrize("name", IN_CELLS)
def test_no_reader_of_lines_fails_where_text_is_not_utf_8(write, name):
    read, content = IN_CELLS[name]
    assert survives(lambda: read(write(name, content.encode().replace(HERE.encode(), b"\xed\xa0\x80"))))


def test_a_table_of_rankings_with_text_that_is_not_utf_8_is_refused(tmp_path):
    texts = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 3], np.int32)), pa.py_buffer(b"\xed\xa0\x80"))
    lists = pa.ListArray.from_arrays([0, 1], texts)
    parquet.write_table(pa.table({"direction": ["i2t"], "query": texts, "items": lists}), tmp_path / "a.parquet")
    assert "is not readable Parquet" in survives(lambda: rankings(tmp_path / "a.parquet"))


def test_a_folder_whose_file_names_cannot_be_stored_is_refused(tmp_path):
    (tmp_path / "a\udc80.jpg").write_bytes(b"")
    assert "half of a surrogate pair" in survives(lambda: records_of("folder", tmp_path))


def test_a_table_with_a_cell_beyond_the_limit_of_csv_is_refused(tmp_path):
    row = StringIO()
    csv.writer(row).writerow(["image", "caption", "x" * 200_000])
    (tmp_path / "a.csv").write_text(row.getvalue())
    assert "not valid CSV" in survives(lambda: pairs(tmp_path / "a.csv"))
