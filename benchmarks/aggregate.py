"""A million judgments to verdicts: python -m benchmarks.aggregate [--pairs N] [--repeats N]

Every pair is judged by five of 1,000 workers in HITs of 16 candidates and 2 controls. ``aggregate_round`` reads the
judgments from the database, aggregates them and writes the verdicts; beside it, in the same run, our Dawid-Skene and
crowd-kit's on the same labels in memory. Set DATABASE_URL to measure PostgreSQL.

python -m benchmarks.aggregate --accuracy DATA prints how often every method is right on two real crowds, with and
without ties: DATA/crowd/rte and DATA/crowd/web, each with label.csv and truth.csv.
"""

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from benchmarks.fixtures import fresh_database, peak_mb
from benchmarks.pool import StepClock, ids_of, make_collection

CANDIDATES, CONTROLS, SEATS, WORKERS, PER_IMAGE = 16, 2, 5, 1_000, 90
ITEMS = CANDIDATES + CONTROLS
ITERATIONS = 20
CROWDS = {"rte": "RTE: entailment, 2 classes", "web": "web: relevance, 5 grades"}
COUNTED = {"shortcoming": "", "wrong_way": ""}


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
    from dataset.aggregation import METHODS, aggregate

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

    from dataset.verdicts import aggregate_round, votes_of

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
    from dataset.aggregation.dawid_skene import dawid_skene
    from dataset.aggregation.sorted_votes import read_votes

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
    """Create a round of ``pairs`` candidates and their judgments, all of them accepted."""
    from core.inserts import insert_rows
    from hits.models import HIT, Round, Seat
    from mitl.models import Pool

    collection = make_collection(queries=6)
    sample = collection.samples.get()
    pool = Pool.objects.create(
        name="pool", collection=collection, sample=sample, top_k=5, control_depth=25, directions=["i2t", "t2i"], seed=0
    )
    judged = Round.objects.create(
        name="round", pool=pool, reward=Decimal("0.65"), ceiling=Decimal(1_000_000), replication=SEATS, seed=0,
        design={"name": "eccv-18", "candidates": CANDIDATES, "positives": 1, "negatives": 1},
        plan_hash="", join_key="k",
    )  # fmt: skip
    hits = pairs // CANDIDATES
    insert_rows(HIT, {"round_id": judged.pk, "number": np.arange(1, hits + 1)})
    hit_ids = ids_of(judged.hits)
    insert_rows(
        Seat,
        {
            "round_id": judged.pk,
            "hit_id": np.repeat(hit_ids, SEATS),
            "number": np.tile(np.arange(1, SEATS + 1), hits),
            "state": "filled",
        },
    )
    add_items(judged, hit_ids)
    add_judgments(hit_ids)
    return judged


def add_items(judged, hit_ids: np.ndarray) -> None:
    """Put 16 candidates, a positive and a negative control into every HIT; no pair occurs twice."""
    from core.inserts import insert_rows
    from hits.models import Control, Item

    images, captions = ids_of(judged.pool.collection.images), ids_of(judged.pool.collection.captions)
    number = np.arange(len(hit_ids) * ITEMS)
    image = images[number // PER_IMAGE]
    caption = captions[(number // PER_IMAGE * 5 + number % PER_IMAGE) % len(captions)]
    place = number % ITEMS
    is_control = place >= CANDIDATES
    polarity = np.where(place[is_control] == CANDIDATES, "positive", "negative")
    pair = {"image_id": image[is_control], "caption_id": caption[is_control]}
    insert_rows(Control, {"round_id": judged.pk, **pair, "polarity": polarity, "state": "active"})
    control = np.ma.masked_all(len(number), dtype=np.int64)
    control[is_control] = ids_of(judged.controls)
    items = {"hit_id": np.repeat(hit_ids, ITEMS), "place": place + 1, "image_id": image, "caption_id": caption}
    insert_rows(Item, {**items, "control_id": control})


def add_judgments(hit_ids: np.ndarray) -> None:
    """Let five workers judge every HIT: right with a probability of their own, otherwise at any level."""
    from annotation.models import Assignment, Judgment, Worker
    from core.inserts import insert_rows
    from hits.models import Item, Seat

    rng = np.random.default_rng(0)
    Worker.objects.bulk_create(Worker() for _ in range(WORKERS))
    workers = ids_of(Worker.objects.all())
    chosen = (np.arange(len(hit_ids))[:, None] * SEATS + np.arange(SEATS)) % WORKERS
    now = datetime.now(UTC)
    seats = Seat.objects.order_by("pk").values_list("pk", "hit_id")
    Assignment.objects.bulk_create(
        (
            Assignment(seat_id=seat, hit_id=hit, worker_id=worker, state="accepted", deadline=now)
            for (seat, hit), worker in zip(seats, workers[chosen].ravel().tolist(), strict=True)
        ),
        batch_size=5_000,
    )
    columns = ("pk", "image_id", "caption_id", "control__polarity")
    item, image, caption, polarity = (
        np.array(column) for column in zip(*Item.objects.order_by("pk").values_list(*columns), strict=True)
    )
    truth = rng.integers(1, 5, len(item))
    truth = np.select([polarity == "positive", polarity == "negative"], [1, 4], truth)
    everywhere = np.repeat(np.arange(len(item)).reshape(-1, ITEMS), SEATS, axis=0).ravel()
    worker = np.repeat(chosen.ravel(), ITEMS)
    is_right = rng.random(len(worker)) < rng.beta(6, 2, WORKERS)[worker]
    level = np.where(is_right, truth[everywhere], rng.integers(1, 5, len(worker)))
    insert_rows(
        Judgment,
        {
            "assignment_id": np.repeat(ids_of(Assignment.objects.all()), ITEMS),
            "item_id": item[everywhere], "worker_id": workers[worker],
            "image_id": image[everywhere], "caption_id": caption[everywhere],
            "level": level, "at": str(now), **COUNTED,
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
