"""A count of votes on disk, to which further votes are added at the cost of their own number, not of all votes."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterpart_statistics.aggregation import Method, fit_votes
from counterpart_statistics.aggregation.fit import Fit, Tallies, Ties
from counterpart_statistics.aggregation.sorted_votes import VOTE, checked_scale, kinds_of, sort_votes
from counterpart_statistics.aggregation.spooled_rows import SpooledRows, replaced
from counterpart_statistics.aggregation.votes import ITEM, Batch, Codes, Floats, Votes

METHODS: tuple[Method, ...] = ("majority", "dawid-skene", "ordinal")
"""The methods that learn from sums by worker alone, and begin with the shares of the votes."""
ADDED = ("item", "worker", "label", "set", "kind")
OF_KILLED = {"pass-1", "added.part"}  # what the folder of a count has whose beginning was killed


@dataclass(frozen=True)
class Counted:
    """Votes, their shares, and the tallies of all votes that count."""

    votes: Votes
    fit: Fit
    tallies: Tallies


class RunningCount:
    """The votes of a folder, counted by one of METHODS. Items are whole numbers from 0 to 2**62; all workers have names
    or all have numbers.

    A full pass (``begin``, ``recount``) counts all votes from nothing: its shares and figures of workers equal those
    that ``fit_votes`` and ``Tallies`` give for these votes to the last bit. ``add`` counts the items with
    votes since then again, and keeps the sums over all others as the last pass left them: expectation maximisation with
    an E-step of some items (Neal and Hinton 1998). Between passes:

    - items with new votes have shares by the figures of their workers with the new votes;
    - all others have their shares by the figures of the last pass;
    - numbers of votes and right answers to controls are final, and shares and agreement by majority;
    - everything follows from the last pass and the set of votes added since, not from their order.

    ``passed`` is the last pass, ``recent`` the items with votes since, with the tallies of all. The work of an addition
    grows with the votes since the last pass. It takes effect as a small file is replaced: where it is killed, and
    where a pass is, nothing changes. Additions and passes of several processes follow one another, and each begins with
    what the others added. For votes that change, begin another count.
    """

    passed: Counted
    recent: Counted | None
    _added: pd.DataFrame

    def __init__(self, folder: Path) -> None:
        """Open the count of a folder. Raises ValueError where it has none, or files of another length."""
        self._folder = folder
        self._open()

    @classmethod
    def begin(cls, folder: Path, votes: Votes, *, method: Method, ties: Ties = "median") -> "RunningCount":
        """Count ``votes`` and keep them in a folder. ``ties`` as of ``choose_levels``.

        Raises ValueError for a method that is not among METHODS, for names of items that are not whole numbers, for a
        mixture of names and numbers of workers, and for a folder that has a count or other files.
        """
        if method not in METHODS:
            raise ValueError(f"Method {method!r} counts all votes at once: use {', '.join(METHODS)}.")
        if folder.exists() and {path.name for path in folder.iterdir()} - OF_KILLED:
            raise ValueError(f"{folder} has a count or other files: open its count, or name another folder.")
        _check_names(votes.worker_names)
        if votes.item_names is not None:
            rows = votes.items.read()
            rows["code"] = _codes(votes.item_names)[rows["code"]]
            votes = replace(votes, items=SpooledRows.of(rows), item_names=None)
        _write_pass(folder, 1, votes, method, ties)
        return cls(folder)

    def add(self, labels: pd.DataFrame, *, gold: Mapping[Any, Iterable[int]] | None = None) -> None:
        """Count further votes: ``labels`` and ``gold`` are as of ``read_votes``, but a missing ``set`` becomes -1.
        Items that have votes are gold or not as they were.

        Raises ValueError and changes nothing for labels that ``read_votes`` refuses, a second vote of a worker on an
        item, an item that is not a whole number, a worker with a number among those with names or the reverse, and
        right levels that no item had at the beginning.
        """
        with self._alone():
            self._add(labels, gold)

    def _add(self, labels: pd.DataFrame, gold: Mapping[Any, Iterable[int]] | None) -> None:
        old = self.passed.votes
        checked_scale(labels, old.levels)
        _check_names(old.worker_names[:1].append(pd.Index(labels["worker"].unique().tolist())))
        items, of_items = np.unique(_codes(labels["item"]), return_inverse=True)
        kinds, by_item = kinds_of(pd.Index(items), old.levels, gold or {})
        if unknown := [row for row in kinds.tolist() if row not in old.kinds.tolist()]:
            raise ValueError(f"{len(unknown)} sets of right levels are new: begin another count.")
        given = np.array([old.kinds.tolist().index(row) for row in kinds.tolist()])[by_item]
        known = self._kinds_before(self._added, items)
        kind = np.where(known < 0, given, known)[of_items]
        further = labels.assign(set=labels.get("set", -1), kind=kind)[[*ADDED]]
        added = pd.concat([self._added, further])
        recent = self._counted(added)
        _write_added(self._folder, self._number, added)
        self._added, self.recent, self._opened = added, recent, self._stamp()

    def recount(self) -> None:
        """Make a full pass over all votes."""
        with self._alone():
            votes = self._sorted(None, self._added)
            _write_pass(self._folder, self._number + 1, votes, self._method, self._ties)
            self._open()

    def shares(self, items: Codes) -> Floats:
        """Return the shares of the levels of some items, (items, levels); NaN for items without votes."""
        found = np.full((len(items), len(self.passed.votes.levels)), np.nan)
        for counted in filter(None, (self.passed, self.recent)):
            places, known = _find(counted.votes, items)
            found[known] = counted.fit.rows.mapped()[places[known]]
        return found

    def workers(self) -> pd.DataFrame:
        """Return the table of ``Tallies.described``; the skills of workers without new votes are of the last pass."""
        skills = self.passed.fit.skills
        if self.recent:
            return self.recent.tallies.described(self.recent.fit.skills.combine_first(skills))
        return self.passed.tallies.described(skills)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from adding, after all that they added."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if self._stamp() != self._opened:
                self._open()
            yield
        finally:
            os.close(folder)

    def _stamp(self) -> tuple[int, int]:
        """Return what is another where the votes or the pass are others."""
        stat = (self._folder / "added.npz").stat()
        return stat.st_ino, stat.st_mtime_ns

    def _open(self) -> None:
        opened = None
        try:
            opened = self._stamp()
            self._read()
        except (OSError, ValueError, KeyError, IndexError, BadZipFile) as error:
            if opened and opened != self._stamp():  # another process has made a pass meanwhile
                self._open()
                return
            raise ValueError(f"{self._folder} has no count, or its files are damaged: begin another.") from error
        self._opened = opened
        self.recent = self._counted(self._added) if len(self._added) else None

    def _read(self) -> None:
        with np.load(self._folder / "added.npz") as kept:
            number = int(kept["number"])
            added = pd.DataFrame({name: kept[name] for name in ADDED})
        place = self._folder / f"pass-{number}"
        with np.load(place / "figures.npz") as kept:
            names, levels = pd.Index(kept["workers"]), kept["levels"].tolist()
            self._method, self._ties = kept["how"].tolist()
            items = SpooledRows.at(place / "items", ITEM)
            cells, sets = (SpooledRows.at(place / name, np.int32) for name in ("cells", "sets"))
            votes = Votes(items, cells, sets, kept["bounds"].tolist(), names, levels, kept["kinds"])
            skills = pd.DataFrame(kept["skills"], names, kept["skilled"].tolist())
            tallies = Tallies(pd.DataFrame(kept["tallies"], names), kept["by_kind"])
        shares = SpooledRows.at(place / "shares", np.float64, shape=(len(levels),))
        size = votes.bounds[-1]
        if not size == len(items) == len(shares) == len(cells) - len(sets):
            raise ValueError("The files of a pass have lost a part.")
        self._number, self._added = number, added
        self.passed = Counted(votes, Fit(shares, skills), tallies)

    def _counted(self, added: pd.DataFrame) -> Counted:
        """Return the items of the added votes, counted with the sums over all others."""
        old = self.passed
        places, known = _find(old.votes, np.unique(added["item"]))
        batch = old.votes.at(places[known])
        shares = SpooledRows.of(old.fit.rows.mapped()[places[known]])
        before = Tallies.of(old.votes, Fit(shares, old.fit.skills), self._ties, [batch])
        others = old.tallies.plus(before, -1)
        votes = self._sorted(batch, added)
        votes = replace(votes, others=others.by_cell(votes.worker_names))
        fit = fit_votes(votes, self._method)
        return Counted(votes, fit, others.plus(Tallies.of(votes, fit, self._ties)))

    def _sorted(self, batch: Batch | None, added: pd.DataFrame) -> Votes:
        """Return the votes of the last pass, or of a batch of it, and those that were added."""
        old = self.passed.votes
        names = pd.Index(added["worker"].tolist())
        workers = old.worker_names.union(names.unique())
        places = workers.get_indexer(old.worker_names)

        def chunks() -> Iterator[NDArray]:
            for one in old.batches() if batch is None else [batch]:
                columns = [one.rows["code"][one.items], places[one.workers], one.labels, one.sets]
                yield np.rec.fromarrays(columns, dtype=VOTE)
            label = np.searchsorted(old.levels, added["label"])
            yield np.rec.fromarrays([added["item"], workers.get_indexer(names), label, added["set"]], dtype=VOTE)

        last = old.items.mapped()["code"][-1:]
        return sort_votes(
            chunks(),
            total=len(old.sets if batch is None else batch.sets) + len(added),
            codes=1 + max([*last, *added["item"]], default=0),
            workers=workers,
            levels=old.levels,
            kinds=old.kinds,
            kind_of=partial(self._kinds_before, added),
        )

    def _kinds_before(self, added: pd.DataFrame, items: Codes) -> Codes:
        """Return the kinds of some items; -1 for those that are neither in the last pass nor among the added votes."""
        kinds = added.drop_duplicates("item").set_index("item")["kind"]
        found = kinds.reindex(items, fill_value=-1).to_numpy(np.int64, copy=True)
        places, known = _find(self.passed.votes, items)
        found[known] = self.passed.votes.items.mapped()["kind"][places[known]]
        return found


def _find(votes: Votes, items: Codes) -> tuple[Codes, NDArray[np.bool_]]:
    """Return the places of items among those of the votes, and which of them are there."""
    codes = votes.items.mapped()["code"]
    places = np.searchsorted(codes, items)
    known = places < len(codes)
    known[known] = codes[places[known]] == items[known]
    return places, known


def _codes(items: "pd.Index | pd.Series[int]") -> Codes:
    codes = np.asarray(items)
    wrong = (codes < 0) | (codes > 2**62) if codes.dtype.kind in "iu" else np.ones(len(codes), bool)
    if wrong.any():
        raise ValueError(
            f"{wrong.sum()} items are not whole numbers from 0 to 2**62, as {codes[wrong].tolist()[0]!r}. Number them."
        )
    return codes.astype(np.int64)


def _check_names(workers: pd.Index) -> None:
    """Raise ValueError for names that a file would change."""
    names = workers.tolist()
    if wrong := [name for name, kept in zip(names, _array(workers).tolist(), strict=True) if name != kept]:
        raise ValueError(
            f"{len(wrong)} workers cannot be kept, as {wrong[0]!r}: give all of them names, or all of them numbers."
        )


def _write_pass(folder: Path, number: int, votes: Votes, method: Method, ties: Ties) -> None:
    """Count votes from nothing, and let all of it take the place of the pass before."""
    place = folder / f"pass-{number}"
    shutil.rmtree(place, ignore_errors=True)  # of a pass that was killed
    place.mkdir(parents=True)
    fit = fit_votes(votes, method)
    tallies = Tallies.of(votes, fit, ties)
    for name, rows in {"items": votes.items, "cells": votes.cells, "sets": votes.sets, "shares": fit.rows}.items():
        rows.save(place / name)
    with replaced(place / "figures.npz") as file:
        np.savez(
            file,
            how=[method, ties],
            bounds=votes.bounds,
            workers=_array(votes.worker_names),
            levels=list(votes.levels),
            kinds=votes.kinds,
            skills=fit.skills,
            skilled=_array(fit.skills.columns),
            tallies=tallies.workers,
            by_kind=tallies.kinds,
        )
    _write_added(folder, number, pd.DataFrame([], columns=ADDED))
    for other in folder.glob("pass-*"):
        if other != place:
            shutil.rmtree(other)


def _write_added(folder: Path, number: int, added: pd.DataFrame) -> None:
    """Let a pass and the votes since then take effect."""
    with replaced(folder / "added.npz") as file:
        columns: dict[str, Any] = {name: _array(added[name]) for name in ADDED}
        np.savez(file, number=number, **columns)


def _array(names: "pd.Index | pd.Series[Any]") -> NDArray:
    """Return names or numbers as an array that is saved without Python's objects."""
    return np.array(names.tolist()) if len(names) else np.zeros(0, np.int64)
