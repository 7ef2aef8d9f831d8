"""One definition of gain: the table of docs/metrics.md is what the code does."""

import doctest
import re
from pathlib import Path

import pyarrow as pa
import pytest

from counterpart_annotators.kinds.vlm import questions
from counterpart_statistics.selection.pooled_queries import GAINS
from dataset.exports.exported_tables import NUMBERS, with_labels

PATH = Path(__file__).resolve().parents[2] / "docs/metrics.md"
PAGE = PATH.read_text()
TABLE = PAGE.partition("| pair of a version | `graded` | gain |\n|---|---|---|\n")[2].partition("\n\n")[0]
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in TABLE.splitlines()]


@pytest.mark.parametrize(("pair", "graded", "gain"), ROWS)
def test_the_graded_label_of_an_export_is_that_of_the_page(pair, graded, gain):
    judged = re.search(r"level (\d)", pair)
    level = int(judged[1]) if judged else None
    positive = int("merged" in pair or level in (1, 2))
    schema = pa.schema([(name, NUMBERS[name]) for name in ("level", "positive")])
    (row,) = with_labels(pa.RecordBatch.from_pylist([{"level": level, "positive": positive}], schema)).to_pylist()
    assert row["graded"] == int(graded) == 2 * float(gain)


def test_the_gains_of_levels_are_those_of_the_page():
    by_level = [float(gain) for pair, _graded, gain in ROWS if "merged" not in pair]
    assert len(ROWS) == 7
    assert by_level == list(GAINS) == list(questions.WEIGHTS) == [1.0, 0.5, 0.0, 0.0]


def test_the_examples_on_the_page_run():
    assert doctest.testfile(str(PATH), module_relative=False).failed == 0
