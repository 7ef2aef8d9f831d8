"""A million judgments to verdicts: python -m benchmarks.aggregate [--pairs N] [--repeats N]

Every pair is judged by five of 1,000 workers in HITs of 16 candidates and 2 controls (``benchmarks.large_round``).
``aggregate_round`` reads the judgments from the database, aggregates them and writes the verdicts; beside it, in the
same run, our Dawid-Skene and crowd-kit's on the same labels in memory. Set DATABASE_URL to measure PostgreSQL.

python -m benchmarks.aggregate --accuracy DATA prints how often every method is right on two real crowds, with and
without ties: DATA/crowd/rte and DATA/crowd/web, each with label.csv and truth.csv.
"""

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from benchmarks.fixtures import draw_lists, fresh_database, peak_mb
from benchmarks.large_round import QUERIES_A_HIT, pool_and_pack, write_judgments
from benchmarks.pool import StepClock, make_collection

CANDIDATES, SEATS = 16, 5
ITERATIONS = 20
CROWDS = {"rte": "RTE: entailment, 2 classes", "web": "web: relevance, 5 grades"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200_000, help="number of judged pairs (default 200,000)")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats (default 3)")
    parser.add_argument("--processor", action="store_true", help="measure processor time, for a busy machine")
    parser.add_argument("--accuracy", type=Path, metavar="DATA", help="print accuracies on real crowds instead")
    options = parser.parse_args()
    if options.accuracy:
        print_accuracies(options.accuracy)
        return
    with fresh_database():
        measure(options.pairs, options.repeats, process_time if options.processor else perf_counter)


def print_accuracies(data: Path) -> None:
    found = {name: accuracies(data / "crowd" / name) for name in CROWDS}
    print(f"| method | {' | '.join(CROWDS.values())} |\n|---|---|---|")
    for method in next(iter(found.values())):
        print(f"| `{method}` | {' | '.join(f'{found[name][method]:.4f}' for name in CROWDS)} |")


def accuracies(folder: Path) -> dict[str, float]:
    """Return the share of the items on which each method is right; equal shares of levels share the credit."""
    from counterpart_statistics.aggregation import METHODS, aggregate

    labels = pd.read_csv(folder / "label.csv")
    truth = pd.read_csv(folder / "truth.csv").set_index("item")["truth"]
    found = {}
    for method in METHODS:
        shares = aggregate(labels, method).loc[truth.index]
        first = shares.eq(shares.max(axis=1), axis=0).to_numpy()
        credit = first / first.sum(axis=1, keepdims=True)
        found[method] = float(credit[np.arange(len(truth)), shares.columns.get_indexer(truth)].mean())
    return found


def measure(pairs: int, repeats: int, timer: Callable[[], float]) -> None:
    from django.db import connection

    from dataset.judged.answer_tables import votes_of
    from dataset.verdicts import aggregate_round

    judged = make_judged_round(pairs)
    print(f"on {connection.vendor}; {peak_mb():.0f} MB peak before the start", flush=True)
    figures: dict[str, list[float]] = defaultdict(list)
    for _ in range(repeats):
        for method in ("majority", "dawid-skene", "ordinal"):
            clock = StepClock(timer)
            counted = aggregate_round(judged, method=method, progress=clock)
            clock("", 0, None)
            for step, seconds in clock.seconds.items():
                figures[f"{method}: {step}"].append(seconds)
            figures[f"{method}: all of it"].append(sum(clock.seconds.values()))
        peak = peak_mb()
        labels = candidates_of(votes_of(judged))
        figures[f"in memory, {ITERATIONS} iterations: ours"].append(ours(labels, timer))
        figures[f"in memory, {ITERATIONS} iterations: crowd-kit's"].append(
            crowd_kit(labels, timer, n_iter=ITERATIONS, tol=-1)[0]
        )
        seconds, iterations = crowd_kit(labels, timer)
        figures[f"in memory, crowd-kit's by its own rule, which stops after {iterations}"].append(seconds)
    print(f"{counted['judgments']:,} judgments, {counted['pairs']:,} pairs; {peak:.0f} MB peak of ours; "
          f"{peak_mb():.0f} MB with crowd-kit; medians of {repeats} and all, seconds:")  # fmt: skip
    for name, values in figures.items():
        print(f"{median(values):8.2f}  {name}  ({', '.join(f'{value:.2f}' for value in values)})")


def candidates_of(votes: pd.DataFrame) -> pd.DataFrame:
    candidates = votes[votes["control"] == ""]
    item = candidates.groupby(["image", "caption"]).ngroup()
    return pd.DataFrame({"item": item, "worker": candidates["worker"], "label": candidates["level"]})


def ours(labels: pd.DataFrame, timer: Callable[[], float]) -> float:
    """Return the seconds of 20 iterations of our Dawid-Skene, from the table of labels to that of the shares."""
    from counterpart_statistics.aggregation.dawid_skene import dawid_skene
    from counterpart_statistics.aggregation.sorted_votes import read_votes

    begun = timer()
    votes = read_votes(labels)
    pd.DataFrame(dawid_skene(votes, iterations=ITERATIONS).distribution, votes.item_names, votes.levels)
    return timer() - begun


def crowd_kit(labels: pd.DataFrame, timer: Callable[[], float], **options: float) -> tuple[float, int]:
    """Return the seconds of crowd-kit's DawidSkene and the number of its iterations."""
    from crowdkit.aggregation import DawidSkene

    tasks = labels.rename(columns={"item": "task"})
    model = DawidSkene(**options)
    begun = timer()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        model.fit_predict_proba(tasks)
    return timer() - begun, len(model.loss_history_)


def make_judged_round(pairs: int):
    """Pool and pack about ``pairs`` pairs, each judged by five workers."""
    collection = make_collection(queries=round(pairs / CANDIDATES * QUERIES_A_HIT))
    draw_lists(collection)
    judged = pool_and_pack(collection, replication=SEATS)
    write_judgments(judged, agreeing=0.7)
    return judged


if __name__ == "__main__":
    main()
