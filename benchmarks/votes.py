"""Verdicts on 20 and 100 million votes: python -m benchmarks.votes [--pairs N ...] [--repeats N] [--write]

Draws pairs with five votes each by 20,000 workers, 5% of them gold controls, into a Parquet file in item order. From
that file to the shares of all pairs, five iterations of each method in batches, and of Dawid-Skene with all votes in
memory (as this product did until 0.3.2, but for the data frames); each in a process of its own, one after another:
seconds and the peak of memory, medians of the repeats. Of more than 5 million pairs nothing is in memory, and each
method runs once. With --write into docs/benchmarks.md.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from scipy import sparse

from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import peak_mb
from counterpart_statistics.aggregation import conclusions
from counterpart_statistics.aggregation.dawid_skene import TRUST, dawid_skene
from counterpart_statistics.aggregation.fit import Fit
from counterpart_statistics.aggregation.mace import mace
from counterpart_statistics.aggregation.ordinal import ordinal
from counterpart_statistics.aggregation.sorted_votes import VOTE, sort_votes
from counterpart_statistics.aggregation.votes import Votes

SEATS, WORKERS, LEVELS, ITERATIONS, AT_ONCE = 5, 20_000, 4, 5, 200_000
IN_MEMORY = "dawid-skene, in memory"
LARGEST_IN_MEMORY = 5_000_000  # pairs
COLUMNS = ("votes", "method", "processor, s", "clock, s", "peak, MB", "furthest from in memory")
METHODS = {"dawid-skene": dawid_skene, "ordinal": ordinal, "mace": mace}


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
    lines = [
        "| votes | method | processor, s | clock, s | peak, MB | furthest from in memory |\n|---|---|---|---|---|---|"
    ]
    for pairs in options.pairs:
        with tempfile.TemporaryDirectory() as folder:
            lines += compare(pairs, options.repeats, Path(folder))
    table = "\n".join(lines) + "\n"
    print(table)
    if options.write:
        write_tables("votes", table)


def compare(pairs: int, repeats: int, folder: Path) -> Iterator[str]:
    """Yield the rows of one number of pairs."""
    draw_votes(folder / "votes.parquet", pairs)
    ways = [IN_MEMORY] * (pairs <= LARGEST_IN_MEMORY) + list(METHODS)
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(repeats if pairs <= LARGEST_IN_MEMORY else 1):
        for way in ways:
            runs[way].append(measured_alone(way, folder))
    for way, figures in runs.items():
        seconds = [median(run[name] for run in figures) for name in ("processor", "clock")]
        cells = [f"{pairs * SEATS / 1e6:.0f} million", f"`{way}`" if way in METHODS else way]
        cells += [f"{one:.1f}" for one in seconds]
        cells += [f"{median(run['peak'] for run in figures):,.0f}", furthest(way, folder)]
        yield f"| {' | '.join(cells)} |"


def furthest(way: str, folder: Path) -> str:
    """Return the greatest difference of a share from the one in memory, where the model is the same."""
    in_memory = folder / f"{IN_MEMORY}.npy"
    if way != "dawid-skene" or not in_memory.exists():
        return ""
    one, other = (np.load(path, mmap_mode="r") for path in (in_memory, folder / f"{way}.npy"))
    parts = (slice(at, at + AT_ONCE) for at in range(0, len(one), AT_ONCE))
    return f"{max(np.abs(one[part] - other[part]).max() for part in parts):.1g}"


def measured_alone(way: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.votes", "--one", way, folder / "votes.parquet", folder / f"{way}.npy"]
    said = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  this module itself
    figures: dict[str, float] = json.loads(said.stdout)
    print(f"{way}: {figures}", flush=True)
    return figures


def measure(way: str, votes: str, shares: str) -> dict[str, float]:
    """Return the seconds from the file to the shares, and the process's peak of memory; then write the shares."""
    clock, processor = perf_counter(), process_time()
    found: Any = fit_in_memory(Path(votes)) if way == IN_MEMORY else fit_in_batches(way, Path(votes))
    figures = {"processor": process_time() - processor, "clock": perf_counter() - clock, "peak": peak_mb()}
    np.save(shares, found if way == IN_MEMORY else found.distribution)
    return figures


def fit_in_batches(method: str, path: Path) -> Fit:
    votes = read_votes(path)
    fit = METHODS[method](votes, iterations=ITERATIONS)
    fit.round(votes)
    for _ in conclusions(votes, fit, "median"):
        pass
    return fit


def read_votes(path: Path) -> Votes:
    file = parquet.ParquetFile(path)
    gold = np.zeros(file.metadata.num_rows // SEATS, dtype=np.int8)

    def chunks() -> Iterator[np.ndarray]:
        for part in file.iter_batches(AT_ONCE * SEATS):
            votes = np.zeros(len(part), VOTE)
            for name in ("code", "worker", "label"):
                votes[name] = part[name].to_numpy()
            gold[votes["code"]] = part["gold"].to_numpy()
            yield votes

    return sort_votes(
        chunks(),
        total=file.metadata.num_rows,
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


def draw_votes(path: Path, pairs: int) -> None:
    """Write the votes: right with a probability of the worker's own, otherwise at any level."""
    rng = np.random.default_rng(0)
    skill = rng.beta(8, 2, WORKERS)
    schema = pa.schema([("code", pa.int64()), ("worker", pa.int32()), ("label", pa.int8()), ("gold", pa.int8())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, pairs, AT_ONCE):
            count = min(AT_ONCE, pairs - start)
            truth = rng.integers(0, LEVELS, (count, 1))
            workers = (rng.integers(0, WORKERS, (count, 1)) + np.arange(SEATS) * 3_001) % WORKERS
            right = rng.random((count, SEATS)) < skill[workers]
            labels = np.where(right, truth, rng.integers(0, LEVELS, (count, SEATS)))
            gold = np.where(rng.random((count, 1)) < 0.05, truth + 1, 0)
            codes = np.arange(start, start + count)[:, None]
            columns = (np.broadcast_to(one, labels.shape).ravel() for one in (codes, workers, labels, gold))
            parts = [pa.array(one).cast(field.type) for one, field in zip(columns, schema, strict=True)]
            writer.write_table(pa.table(parts, schema=schema))


if __name__ == "__main__":
    main()
