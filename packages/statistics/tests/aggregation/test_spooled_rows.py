import numpy as np
import pytest

from counterpart_statistics.aggregation import spooled_rows
from counterpart_statistics.aggregation.spooled_rows import SpooledRows


@pytest.mark.parametrize("in_memory", [10, 1 << 20])
def test_rows_are_read_as_they_were_written_from_memory_or_disk(monkeypatch, in_memory):
    monkeypatch.setattr(spooled_rows, "IN_MEMORY", in_memory)
    rows = SpooledRows(np.float64, shape=(2,))
    rows.append(np.arange(6).reshape(3, 2))
    rows.append(np.arange(6, 8).reshape(1, 2))
    rows.write(1, np.array([[-1, -2]]))
    assert len(rows) == 4
    assert rows.read().tolist() == [[0, 1], [-1, -2], [4, 5], [6, 7]]
    assert rows.read(1, 3).tolist() == [[-1, -2], [4, 5]]


def test_rows_of_no_length_are_read():
    rows = SpooledRows(np.int32)
    rows.append(np.empty(0))
    assert rows.read().tolist() == []


def test_what_was_read_can_be_changed_alone():
    rows = SpooledRows.of(np.array([1, 2]))
    rows.read()[0] = 9
    assert rows.read().tolist() == [1, 2]
