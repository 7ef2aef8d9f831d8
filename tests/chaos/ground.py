"""The rounds that the crowd works on, and the releases that run meanwhile."""

from collections.abc import Iterator
from decimal import Decimal
from io import StringIO

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction

from annotation.models import Assignment
from core.work.jobs import open_job
from dataset.jobs import release
from hits.models import Round
from tests.factories import make_collection, make_round

REPLICATION = 3


@transaction.atomic
def make_rounds(*, hits: int, posted: int) -> tuple[Round, Round]:
    """A round for the browser pool and one for MTurk's emulator, on one collection."""
    zoo = make_collection(images=hits * 4 + 2)
    browser = make_round(zoo, "pool", hits=hits, replication=REPLICATION, published=False)
    # Pairs of their own: a worker of one round must not find pairs of the other.
    mturk = make_round(make_collection("farm", images=posted * 4 + 2), "mturk", hits=posted, published=False)
    Round.objects.update(ceiling=100_000)
    return browser, mturk


def publish(browser: Round, mturk: Round) -> None:
    for round, channel in ((browser, "browser"), (mturk, "mturk")):
        call_command(
            "publish", round.name, channel=channel, skip_missing=True, expected_minutes=Decimal(1), stdout=StringIO()
        )
        round.refresh_from_db()


def releases(round: Round) -> Iterator[str]:
    """Open one more job that releases what is judged so far, each time one is asked for."""
    boss, number = User.objects.create_superuser("boss"), 0
    while True:
        if Assignment.objects.filter(hit__round=round, state=Assignment.State.ACCEPTED).exists():
            number += 1
            params = {
                "version": f"v{number}",
                "sample": round.pool.sample.name,
                "rounds": [round.name],
                "options": {"partial": True},
            }
            open_job(f"Release v{number}", release.name, params, by=boss)
        yield f"v{number}"
