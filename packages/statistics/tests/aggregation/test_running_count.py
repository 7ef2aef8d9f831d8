import fcntl
import os
import shutil
import signal
from itertools import pairwise
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpart_statistics.aggregation import conclusions, fit_votes, sorted_votes, spooled_rows
from counterpart_statistics.aggregation.dawid_skene import TOLERANCE, TRUST
from counterpart_statistics.aggregation.fit import Tallies
from counterpart_statistics.aggregation.running_count import METHODS, RunningCount
from counterpart_statistics.aggregation.sorted_votes import read_votes
from counterpart_statistics.aggregation.votes import Votes
from crowds import LEVELS, draw_crowd

COUNTS = ["votes", "controls", "right"]
GOLD = {3: (1, 2), 9: (3, 4), 14: (1, 2)}


def table(*rows: tuple[int, str, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["item", "worker", "label"])


def read(labels: pd.DataFrame) -> Votes:
    return read_votes(labels, levels=LEVELS, gold=GOLD)


def crowd(seed: int = 0, *, items: int = 60) -> pd.DataFrame:
    labels, _ = draw_crowd([0.95, 0.9, 0.8, 0.7, 0.6, 0.4], items=items, each=3, seed=seed)
    return labels.assign(worker=labels["worker"].map("w{}".format))


def as_text(figures: pd.DataFrame) -> pd.DataFrame:
    return figures.astype(str)


@pytest.fixture(autouse=True, scope="module")
def unsynced():
    """Leave the writing to the disk to the system, as it takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spooled_rows.os, "fsync", lambda file: None)
        yield


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(sorted_votes, "PART", 60)
    monkeypatch.setattr(sorted_votes, "BATCH", 20)
    monkeypatch.setattr(spooled_rows, "IN_MEMORY", 100)


def test_votes_are_added_to_old_and_new_items(tmp_path):
    first = table((1, "ann", 1), (1, "bob", 1), (7, "ann", 4), (7, "bob", 4))
    count = RunningCount.begin(tmp_path / "count", read_votes(first, levels=LEVELS), method="majority")
    count.add(table((7, "cyd", 1), (3, "cyd", 2), (3, "ann", 2)))
    assert count.shares(np.array([1, 3, 7])).round(3).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0.333, 0, 0, 0.667]]
    workers = count.workers()
    assert workers["votes"].to_dict() == {"ann": 3, "bob": 2, "cyd": 2}
    assert workers["agreement"].to_dict() == {"ann": 1, "bob": 1, "cyd": 0.5}
    assert workers["reliability"].round(3).to_dict() == {"ann": 0.889, "bob": 0.833, "cyd": 0.667}
    assert workers.loc["cyd", "confusion"][0] == [1, 0, 0, 0]  # a third of item 7 is level 1


def test_an_item_without_votes_has_no_shares(tmp_path):
    count = RunningCount.begin(tmp_path, read_votes(table((1, "ann", 1)), levels=LEVELS), method="majority")
    count.add(table())
    assert np.isnan(count.shares(np.array([0, 2]))).all()


def slow_shares(old: pd.DataFrame, shares: dict[int, np.ndarray], new: pd.DataFrame) -> dict[int, np.ndarray]:
    """Return the shares of the items of ``new`` by loops: expectation maximisation with fixed votes on others."""
    votes = pd.concat([old, new])
    touched = sorted(set(new["item"]))
    now = {}
    for item in touched:
        labels = votes.loc[votes["item"] == item, "label"]
        now[item] = np.array([(labels == level).mean() for level in LEVELS])
    for _ in range(300):
        known = {**shares, **now}
        counts = {worker: TRUST * np.eye(4) for worker in set(votes["worker"])}
        for vote in votes.itertuples():
            counts[vote.worker][vote.label - 1] += known[vote.item]
        prior = sum(known.values())
        moved = 0.0
        for item in touched:
            chance = prior.copy()
            for vote in votes[votes["item"] == item].itertuples():
                of_worker = counts[vote.worker]
                chance *= (of_worker / of_worker.sum(axis=0))[vote.label - 1]
            moved += np.abs(chance / chance.sum() - now[item]).sum() / (4 * len(touched))
            now[item] = chance / chance.sum()
        if moved < TOLERANCE:
            break
    return now


def test_items_with_new_votes_have_the_shares_of_expectation_maximisation_by_loops(tmp_path, small_batches):
    labels = crowd(items=30)
    is_new = (labels["item"] > 25) | (np.arange(len(labels)) % 17 == 0)
    old, new = labels[~is_new], labels[is_new]
    count = RunningCount.begin(tmp_path, read_votes(old, levels=LEVELS), method="dawid-skene")
    items = np.unique(labels["item"])
    before = count.shares(items)
    known = {item: row for item, row in zip(items.tolist(), before, strict=True) if not np.isnan(row).any()}
    count.add(new)
    expected = slow_shares(old, known, new)
    found = count.shares(items)
    for item, row, row_before in zip(items.tolist(), found, before, strict=True):
        assert np.allclose(row, expected[item], atol=1e-6) if item in expected else np.array_equal(row, row_before)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 99), ends=st.lists(st.integers(0, 60), min_size=1, max_size=3))
def test_a_full_pass_equals_counting_from_nothing_to_the_last_bit(method, tmp_path_factory, seed, ends):
    labels = crowd(seed, items=20)
    mixed = labels.sample(frac=1, random_state=seed)
    first, *additions = (mixed[begin:end] for begin, end in pairwise([0, *sorted(ends), len(mixed)]))
    count = RunningCount.begin(tmp_path_factory.mktemp("count"), read(first), method=method)
    for added in additions:
        count.add(added, gold=GOLD)
    votes = read(labels)
    fit = fit_votes(votes, method)
    expected = Tallies.of(votes, fit, "median").described(fit.skills)
    final = [*COUNTS, "agreement"] if method == "majority" else COUNTS
    assert count.workers()[final].equals(expected[final])
    items = votes.item_names.to_numpy()
    if method == "majority":
        assert np.array_equal(count.shares(items), fit.distribution)
    count.recount()
    assert np.array_equal(count.shares(items), fit.distribution)
    assert as_text(count.workers()).equals(as_text(expected))
    assert count.recent is None
    verdicts = (list(conclusions(*pair, "median")) for pair in ((count.passed.votes, count.passed.fit), (votes, fit)))
    for one, other in zip(*verdicts, strict=True):
        assert np.array_equal(one.levels, other.levels)
        assert np.array_equal(one.votes, other.votes)


@pytest.mark.parametrize("method", METHODS)
def test_figures_between_passes_depend_neither_on_the_order_of_votes_nor_on_the_calls(method, tmp_path, small_batches):
    labels = crowd()
    new = labels.sample(40, random_state=1)
    begun = RunningCount.begin(tmp_path / "one", read(labels.drop(new.index)), method=method)
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    begun.add(new, gold=GOLD)
    for part in np.array_split(new.index[::-1], 7):
        RunningCount(tmp_path / "other").add(labels.loc[part], gold=GOLD)
    other = RunningCount(tmp_path / "other")
    items = np.unique(labels["item"])
    assert np.array_equal(begun.shares(items), other.shares(items))
    assert as_text(begun.workers()).equals(as_text(other.workers()))


def test_a_new_control_anchors_its_worker(tmp_path):
    labels = crowd()
    count = RunningCount.begin(tmp_path, read(labels), method="dawid-skene")
    before = count.workers().loc["w5", "controls"]
    count.add(table((99, "w5", 4)), gold={99: (1, 2)})
    assert count.shares(np.array([99]))[0, 2:].tolist() == [0, 0]
    assert count.workers().loc["w5", "controls"] == before + 1
    count.add(table((99, "w4", 1)))
    assert count.shares(np.array([99]))[0, 2:].tolist() == [0, 0]  # as it was a control before


@pytest.mark.parametrize(("act", "replaced"), [("add", 0), *(("recount", files) for files in range(6))])
def test_a_killed_addition_or_pass_changes_nothing(act, replaced, tmp_path, monkeypatch):
    labels = crowd()
    new = labels.sample(20, random_state=1)
    count = RunningCount.begin(tmp_path, read(labels.drop(new.index)), method="dawid-skene")
    count.add(new[:10], gold=GOLD)
    items = np.unique(labels["item"])
    before = count.shares(items)
    left = iter(range(replaced))
    replace = Path.replace

    def dies(path: Path, target: Path) -> Path:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(path, target)

    if not (child := os.fork()):
        monkeypatch.setattr(Path, "replace", dies)
        count.add(new[10:], gold=GOLD) if act == "add" else count.recount()
    assert os.waitpid(child, 0) == (child, signal.SIGKILL)
    again = RunningCount(tmp_path)
    assert np.array_equal(again.shares(items), before, equal_nan=True)
    again.add(new[10:], gold=GOLD)
    again.recount()
    votes = read(labels)
    assert np.array_equal(again.shares(items), fit_votes(votes, "dawid-skene").distribution)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("rows", "gold", "message"),
    [
        ([(1, "ann", 1)], {}, "1 labels repeat an item and worker"),
        ([(8, "ann", 1), (8, "ann", 2)], {}, "1 labels repeat"),
        ([(8, "cyd", 2)], {}, "1 labels repeat"),
        ([(1, "dan", 5)], {}, "1 labels are not among the levels: 5"),
        ([(1, None, 1)], {}, "1 labels have no item or no worker"),
        ([(-1, "dan", 1), (2, "dan", 1)], {}, "1 items are not whole numbers from 0 to 2\\*\\*62, as -1"),
        ([(2**62 + 1, "dan", 1)], {}, "1 items are not whole numbers"),
        ([("x", "dan", 1)], {}, "1 items are not whole numbers from 0 to 2\\*\\*62, as 'x'"),
        ([(1, 7, 1)], {}, "1 workers cannot be kept, as 7: give all of them names"),
        ([(1, "dan\0", 1)], {}, "1 workers cannot be kept"),
        ([(11, "dan", 1)], {11: (2,)}, "1 sets of right levels are new"),
    ],
)
def test_refused_votes_change_nothing(rows, gold, message, tmp_path):
    first = table((1, "ann", 1), (1, "bob", 2), (3, "ann", 4))
    count = RunningCount.begin(tmp_path, read(first), method="dawid-skene")
    count.add(table((8, "cyd", 1)))
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    before = count.workers()
    with pytest.raises(ValueError, match=message):
        count.add(table(*rows), gold=gold)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files
    assert as_text(count.workers()).equals(as_text(before))


def test_a_count_is_begun_once_by_a_method_of_sums_on_numbered_items(tmp_path):
    votes = read_votes(table((1, "ann", 1)), levels=LEVELS)
    with pytest.raises(ValueError, match="'mace' counts all votes at once"):
        RunningCount.begin(tmp_path, votes, method="mace")
    with pytest.raises(ValueError, match="1 items are not whole numbers"):
        RunningCount.begin(tmp_path, read_votes(table(("a", "ann", 1)), levels=LEVELS), method="majority")
    RunningCount.begin(tmp_path, votes, method="majority")
    with pytest.raises(ValueError, match="has a count or other files"):
        RunningCount.begin(tmp_path, votes, method="majority")


def test_processes_add_one_after_another_to_what_the_others_added(tmp_path):
    first, *rows = ((item, worker, 1 + item % 4) for item in range(4) for worker in ("ann", "bob"))
    counts = [RunningCount.begin(tmp_path, read_votes(table(first), levels=LEVELS), method="majority")]
    counts += [RunningCount(tmp_path) for _ in range(2)]
    counts[0].add(table(*rows[:2]))
    counts[1].add(table(*rows[2:4]))
    counts[1].recount()
    counts[2].add(table(*rows[4:]))
    counts[0].recount()
    for count in (counts[0], RunningCount(tmp_path)):
        assert count.shares(np.arange(4)).tolist() == np.eye(4).tolist()
        assert count.workers()["votes"].to_dict() == {"ann": 4, "bob": 4}


def test_an_addition_waits_while_another_process_writes(tmp_path):
    count = RunningCount.begin(tmp_path, read_votes(table((0, "ann", 1)), levels=LEVELS), method="majority")
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    addition = Thread(target=count.add, args=(table((1, "ann", 2)),))
    addition.start()
    addition.join(1)
    is_waiting = addition.is_alive()
    os.close(other)
    addition.join()
    assert is_waiting
    assert RunningCount(tmp_path).shares(np.array([1])).tolist() == [[0, 1, 0, 0]]


def test_items_with_large_numbers_are_sorted_into_parts(tmp_path, small_batches):
    labels = crowd()
    count = RunningCount.begin(tmp_path, read_votes(labels, levels=LEVELS), method="dawid-skene")
    before = count.shares(np.unique(labels["item"]))
    count.add(table((2**62, "w1", 2)))
    count.recount()
    assert count.shares(np.array([2**62])).argmax() == 1
    assert np.allclose(count.shares(np.unique(labels["item"])), before, atol=0.05)


@pytest.mark.parametrize("name", ["items", "cells", "sets", "shares", "figures.npz", "../added.npz"])
def test_a_count_whose_files_have_lost_a_part_is_not_opened(name, tmp_path):
    RunningCount.begin(tmp_path, read(crowd()), method="majority")
    path = tmp_path / "pass-1" / name
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(ValueError, match="has no count, or its files are damaged"):
        RunningCount(tmp_path)
