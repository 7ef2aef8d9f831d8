import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterpart_annotators.checkpoints import Checkpoints

ARRAYS = {"scores": np.linspace(0, 1, 7, dtype=np.float32).reshape(7, 1), "places": np.arange(3)}


@pytest.fixture
def kept(tmp_path) -> Checkpoints:
    return Checkpoints(tmp_path / "work")


def test_what_was_saved_is_loaded_as_it_was(kept):
    kept.save("first", **ARRAYS)
    loaded = kept.load("first")
    assert list(loaded) == ["scores", "places"]
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array, strict=True)


def test_what_was_not_saved_is_none(kept):
    kept.save("first", **ARRAYS)
    assert kept.load("second") is None
    assert ("first" in kept, "second" in kept) == (True, False)


def test_clearing_leaves_nothing_and_may_be_repeated(kept, tmp_path):
    kept.save("part", **ARRAYS)
    kept.clear()
    kept.clear()
    assert kept.load("part") is None
    assert not (tmp_path / "work").exists()


@given(place=st.integers(0), change=st.integers(1, 255))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_part_with_one_wrong_byte_counts_as_not_there(tmp_path, place, change):
    kept = Checkpoints(tmp_path / "work")
    kept.save("part", **ARRAYS)
    content = bytearray((tmp_path / "work" / "part.part").read_bytes())
    content[place % len(content)] ^= change
    (tmp_path / "work" / "part.part").write_bytes(content)
    assert kept.load("part") is None


def test_another_process_may_clear_the_folder_while_a_part_is_written(kept, monkeypatch):
    kept.save("first", **ARRAYS)
    written = np.savez

    def cleared_meanwhile(*args, **kwargs):
        kept.clear()
        written(*args, **kwargs)

    monkeypatch.setattr(np, "savez", cleared_meanwhile)
    kept.save("second", **ARRAYS)
    assert kept.load("second") is None
    monkeypatch.undo()
    kept.save("third", **ARRAYS)
    assert kept.load("third") is not None


def test_a_process_killed_while_it_saves_leaves_the_old_part_or_the_new_one(kept):
    kept.save("part", rows=np.zeros(1))
    process = multiprocessing.get_context("fork").Process(target=_save_for_ever, args=(kept,))
    process.start()
    began = time.monotonic()
    while kept.load("part")["rows"].size == 1 and time.monotonic() < began + 60:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    rows = kept.load("part")["rows"]
    assert rows.size == 100_000
    assert (rows == rows[0]).all()


def _save_for_ever(kept: Checkpoints) -> None:
    number = 1.0
    while True:
        kept.save("part", rows=np.full(100_000, number))
        number += 1
