"""Calls that the clock's sync of a round makes: python -m benchmarks.sweep [--hits 2160]

Posts a round on MTurk's emulator, with a fifth of its HITs submitted without a word to us, and counts the calls of a
sync of everything and of the clock's syncs until they have listed every posting.
"""

import argparse
import os
from collections import Counter
from datetime import timedelta
from time import perf_counter
from typing import Any

from benchmarks.fixtures import fresh_database

SHARE = 5  # one HIT in so many is submitted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=int, default=2160)
    hits = parser.parse_args().hits
    from emulators.mturk.emulator import Emulator
    from emulators.mturk.world import World

    with fresh_database(), Emulator(World(seed=1)) as emulator:
        os.environ["MTURK_EMULATOR_URL"] = emulator.url
        os.environ["MTURK_ENVIRONMENTS"] = "emulator"
        measure(emulator.world, post(emulator, hits))


def post(emulator: Any, hits: int) -> Any:
    """Post a round of HITs without pairs, and have every fifth submitted."""
    from django.utils import timezone

    from corpus.models import Collection, Sample
    from crowd.channels.mturk.hits import QUESTION
    from crowd.models import Posting
    from hits.models import HIT, Round
    from mitl.models import Pool

    world = emulator.world
    world.act("set_balance", available="100000.00")
    collection = Collection.objects.create(name="empty")
    sample = Sample.objects.create(name="empty", collection=collection, seed=0)
    pool = Pool.objects.create(
        name="empty", collection=collection, sample=sample, top_k=1, control_depth=1, directions=[], seed=0,
        n_proposals=0, n_pairs=0,
    )  # fmt: skip
    made = Round.objects.create(
        name="swept", pool=pool, reward="1.40", ceiling="10000", design={}, seed=0, plan_hash="0" * 64, join_key="x",
        channel="mturk", environment="emulator", published_at=timezone.now(), settles=True, rehearsal=True,
    )  # fmt: skip
    worker = world.register_worker()
    for number in range(1, hits + 1):
        posted = world.call(
            "CreateHIT",
            {"MaxAssignments": 1, "LifetimeInSeconds": 7 * 86400, "AssignmentDurationInSeconds": 3600}
            | {"Reward": "1.40", "Title": "T", "Description": "D"}
            | {"Question": QUESTION.format(url="https://example.org/", height=0)},
        )["HIT"]
        if number % SHARE == 0:
            assignment = emulator.work.accept(posted["HITId"], worker)
            emulator.work.submit(assignment["AssignmentId"], worker, {"answers": "1"})
        Posting.objects.create(
            round=made, hit=HIT.objects.create(round=made, number=number), channel="mturk", environment="emulator",
            state="live",
            external_id=posted["HITId"], max_assignments=1, posted_assignments=1, posted_at=timezone.now(),
            expires_at=timezone.now() + timedelta(days=7),
        )  # fmt: skip
    return made


def measure(world: Any, made: Any) -> None:
    from botocore.client import BaseClient

    from crowd.models import Posting, Visit
    from crowd.sync import collect_round
    from crowd.tasks import LISTED_AT_ONCE

    calls: Counter[str] = Counter()
    ask = BaseClient._make_api_call

    def counted(self: Any, operation: str, params: Any) -> Any:
        calls[operation] += 1
        return ask(self, operation, params)

    BaseClient._make_api_call = counted
    sweeps = 0
    while Posting.objects.filter(tried_at=None).exists():
        calls.clear()
        begun = perf_counter()
        collect_round(made, at_most=LISTED_AT_ONCE)
        sweeps += 1
        if sweeps == 1:
            print(f"the clock's sync: {calls.total()} calls {dict(calls)}, {perf_counter() - begun:.1f} s", flush=True)
    print(f"every posting was listed after {sweeps} of them; {Visit.objects.listed().count()} submissions found")
    calls.clear()
    begun = perf_counter()
    collect_round(made)
    print(f"a sync of everything: {calls.total()} calls, {perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
