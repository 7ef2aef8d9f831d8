"""Verdicts on 20 and 100 million votes: python -m benchmarks.votes [--pairs N ...] [--repeats N] [--write]

Draws pairs with five votes each by 20,000 workers, 5% of them gold controls, into a Parquet file in item order. From
that file to the shares of all pairs, five iterations of each method in batches, and of Dawid-Skene with all votes in
memory (as this product did until 0.3.2, but for the data frames); each in a process of its own, one after another:
seconds and the peak of memory, medians of the repeats. Then 1,000 votes on old and new pairs are added to a count on
disk, a full pass follows, and all votes are counted from nothing, until their shares settle. Of more than 5 million
pairs nothing is in memory or added, and each method runs once. With --write into docs/benchmarks.md.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from scipy import sparse

from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import peak_mb
from counterpart_statistics.aggregation import conclusions, fit_votes
from counterpart_statistics.aggregation.dawid_skene import TRUST, dawid_skene
from counterpart_statistics.aggregation.fit import Fit
from counterpart_statistics.aggregation.mace import mace
from counterpart_statistics.aggregation.ordinal import ordinal
from counterpart_statistics.aggregation.running_count import RunningCount
from counterpart_statistics.aggregation.sorted_votes import VOTE, sort_votes
from counterpart_statistics.aggregation.votes import Votes

SEATS, WORKERS, LEVELS, ITERATIONS, AT_ONCE = 5, 20_000, 4, 5, 200_000
FURTHER = 100  # old pairs with further votes, and new pairs
IN_MEMORY = "dawid-skene, in memory"
LARGEST_IN_MEMORY = 5_000_000  # pairs
METHODS = {"dawid-skene": dawid_skene, "ordinal": ordinal, "mace": mace}
BEGIN, ADD, PASS, NOTHING = "begun", "1,000 votes added", "full pass after", "all from nothing"
RUNNING = [f"{method}, {act}" for method in ("majority", "dawid-skene") for act in (BEGIN, ADD, PASS, NOTHING)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[4_000_000, 20_000_000], help="numbers of pairs")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats (default 3)")
    parser.add_argument("--write", action="store_true", help="write the table of docs/benchmarks.md")
    parser.add_argument("--one", nargs=3, metavar=("WAY", "VOTES", "SHARES"), help="measure one way, in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    lines = ["| votes | method | processor, s | clock, s | peak, MB | furthest |\n|---|---|---|---|---|---|"]
    for pairs in options.pairs:
        with tempfile.TemporaryDirectory() as folder:
            lines += compare(pairs, options.repeats, Path(folder))
    table = "\n".join(lines) + "\n"
    print(table)
    if options.write:
        write_tables("votes", table)


def compare(pairs: int, repeats: int, folder: Path) -> Iterator[str]:
    """Yield the rows of one number of pairs."""
    draw_votes(folder / "votes.parquet", np.arange(pairs))
    old = np.random.default_rng(1).choice(pairs, FURTHER, replace=False)
    draw_votes(folder / "further.parquet", np.append(old, pairs + np.arange(FURTHER)), seed=1, gold_share=0)
    ways = [IN_MEMORY, *METHODS] * repeats + RUNNING if pairs <= LARGEST_IN_MEMORY else list(METHODS)
    runs: dict[str, list[dict[str, float]]] = {}
    for way in ways:
        runs.setdefault(way, []).append(measured_alone(way, folder))
    for way, figures in runs.items():
        cells = [f"{pairs * SEATS / 1e6:.0f} million", f"`{way}`" if way in METHODS else way]
        cells += [f"{median(run[name] for run in figures):.1f}" for name in ("processor", "clock")]
        cells += [f"{median(run['peak'] for run in figures):,.0f}", furthest(way, folder)]
        yield f"| {' | '.join(cells)} |"


def furthest(way: str, folder: Path) -> str:
    """Return the greatest difference of a share from the one in memory; of a full pass from a count from nothing."""
    other = IN_MEMORY if way == "dawid-skene" else way.replace(PASS, NOTHING)
    paths = [folder / f"{one}.npy" for one in (way, other)]
    if way == other or not paths[1].exists():
        return ""
    shares = [np.load(path, mmap_mode="r") for path in paths]
    parts = (slice(at, at + AT_ONCE) for at in range(0, len(shares[0]), AT_ONCE))
    return f"{max(np.abs(shares[0][part] - shares[1][part]).max() for part in parts):.1g}"


def measured_alone(way: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.votes", "--one", way, folder / "votes.parquet", folder / f"{way}.npy"]
    said = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  this module itself
    figures: dict[str, float] = json.loads(said.stdout)
    print(f"{way}: {figures}", flush=True)
    return figures


def measure(way: str, votes: str, shares: str) -> dict[str, float]:
    """Return the seconds from the file to the shares, and the process's peak of memory; then write the shares."""
    clock, processor = perf_counter(), process_time()
    found = fit_in_memory(Path(votes)) if way == IN_MEMORY else fit_on_disk(way, Path(votes))
    figures = {"processor": process_time() - processor, "clock": perf_counter() - clock, "peak": peak_mb()}
    np.save(shares, found if isinstance(found, np.ndarray) else found.distribution)
    return figures


def fit_on_disk(way: str, path: Path) -> Fit:
    """Return the fit of a method, of a step of a count on disk, or of the same votes from nothing."""
    method, _, act = way.partition(", ")
    if act in ("", NOTHING):
        votes = read_votes(path, path.with_name("further.parquet")) if act else read_votes(path)
        fit = fit_votes(votes, method) if act else METHODS[method](votes, iterations=ITERATIONS)
        fit.round(votes)
        for _ in conclusions(votes, fit, "median"):
            pass
        return fit
    if act == BEGIN:
        return RunningCount.begin(path.parent / method, read_votes(path), method=method).passed.fit
    count = RunningCount(path.parent / method)
    if act == PASS:
        count.recount()
        return count.passed.fit
    further = parquet.read_table(path.with_name("further.parquet")).to_pandas()
    count.add(further.rename(columns={"code": "item"}).assign(label=further["label"] + 1))
    return count.recent.fit


def read_votes(*paths: Path) -> Votes:
    files = [parquet.ParquetFile(path) for path in paths]
    total = sum(file.metadata.num_rows for file in files)
    gold = np.zeros(total // SEATS, dtype=np.int8)

    def chunks() -> Iterator[np.ndarray]:
        for part in chain.from_iterable(file.iter_batches(AT_ONCE * SEATS) for file in files):
            votes = np.zeros(len(part), VOTE)
            for name in ("code", "worker", "label"):
                votes[name] = part[name].to_numpy()
            gold[votes["code"]] = np.maximum(gold[votes["code"]], part["gold"].to_numpy())
            yield votes

    return sort_votes(
        chunks(),
        total=total,
        codes=len(gold),
        workers=pd.RangeIndex(WORKERS),
        levels=range(1, LEVELS + 1),
        kinds=np.concatenate([np.ones((1, LEVELS), bool), np.eye(LEVELS, dtype=bool)]),
        kind_of=gold.__getitem__,
    )


def fit_in_memory(path: Path) -> np.ndarray:
    """Return the shares by Dawid and Skene's model, with all votes in arrays and one product each way an iteration."""
    table = parquet.read_table(path)
    gold = table["gold"].to_numpy()[::SEATS]
    items = len(gold)
    cells = table["worker"].to_numpy() * LEVELS + table["label"].to_numpy()
    ends = np.arange(items + 1) * SEATS
    by_item = sparse.csr_array((np.ones(len(cells)), cells, ends), shape=(items, WORKERS * LEVELS))
    by_cell = by_item.T.tocsr()
    labels = np.tile(np.eye(LEVELS), (WORKERS, 1))
    known = np.eye(LEVELS)[gold[gold > 0] - 1]
    shares = by_item @ labels / SEATS
    shares[gold > 0] = known
    for _ in range(ITERATIONS):
        counts = (by_cell @ shares).reshape(WORKERS, LEVELS, LEVELS) + TRUST * np.eye(LEVELS)
        chances = np.maximum(counts, 1e-10)
        chances /= chances.sum(axis=1, keepdims=True)
        logits = by_item @ np.log(chances).reshape(-1, LEVELS) + np.log(shares[gold == 0].sum(axis=0))
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[gold > 0] = known
    return shares.round(9)


def draw_votes(path: Path, codes: np.ndarray, *, seed: int = 0, gold_share: float = 0.05) -> None:
    """Write the votes: right with a probability of the worker's own, otherwise at any level."""
    rng = np.random.default_rng(seed)
    skill = rng.beta(8, 2, WORKERS)
    schema = pa.schema([("code", pa.int64()), ("worker", pa.int32()), ("label", pa.int8()), ("gold", pa.int8())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(codes), AT_ONCE):
            some = codes[start : start + AT_ONCE, None]
            count = len(some)
            truth = rng.integers(0, LEVELS, (count, 1))
            workers = (rng.integers(0, WORKERS, (count, 1)) + np.arange(SEATS) * 3_001) % WORKERS
            right = rng.random((count, SEATS)) < skill[workers]
            labels = np.where(right, truth, rng.integers(0, LEVELS, (count, SEATS)))
            gold = np.where(rng.random((count, 1)) < gold_share, truth + 1, 0)
            columns = (np.broadcast_to(one, labels.shape).ravel() for one in (some, workers, labels, gold))
            parts = [pa.array(one).cast(field.type) for one, field in zip(columns, schema, strict=True)]
            writer.write_table(pa.table(parts, schema=schema))


if __name__ == "__main__":
    main()
