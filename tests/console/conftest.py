"""A small site with a row of every kind, and an answered HIT that waits for a reviewer."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import TestCase

from annotation.models import Assignment
from annotation.work.answers import Answer
from annotation.work.grading import grade
from annotation.work.submissions import submit_answers
from core import events
from corpus.models import Collection
from crowd.models import Outbox, Posting
from dataset.models import Version
from dataset.verdicts import aggregate_round
from hits.models import Round, Seat
from mitl.models import Pool, Retrieval
from tests.annotation.answering import right_answers
from tests.console.addresses import addresses_of_the_site
from tests.dataset.releasing import release_version
from tests.factories import (
    make_annotator,
    make_assignment,
    make_collection,
    make_pool,
    make_retrieval,
    make_round,
    make_sample,
)

__all__ = ["addresses_of_the_site"]


def answer_wrongly(made: Round) -> Assignment:
    """Have a new worker answer an open HIT with 100% YES throughout: the negative control is wrong."""
    return _answer(made, lambda assignment: [Answer(item.pk, 1) for item in assignment.hit.items.all()])


def answer_rightly(made: Round) -> Assignment:
    """Have a new worker answer an open HIT with every control right and every candidate at level 1."""
    return _answer(made, right_answers)


def _answer(made: Round, answers: Callable[[Assignment], list[Answer]]) -> Assignment:
    assignment = make_assignment(Seat.objects.filter(hit__round=made, state=Seat.State.OPEN).first())
    submit_answers(assignment, answers=answers(assignment), active_seconds=300)
    grade(Assignment.objects.get(pk=assignment.pk))
    return Assignment.objects.get(pk=assignment.pk)


@pytest.fixture(autouse=True)
def no_workers(monkeypatch):
    """No worker process answers; a test does not wait for one."""
    monkeypatch.setattr("celery.app.control.Control.broadcast", lambda *_, **__: None)


@dataclass
class Site:
    collection: Collection
    retrieval: Retrieval
    pool: Pool
    draft: Round
    round: Round
    flagged: Assignment
    version: Version

    def again(self) -> "Site":
        """Read the same rows from the database again."""
        return Site(**{name: type(row).objects.get(pk=row.pk) for name, row in vars(self).items()})


@pytest.fixture
def site(db) -> Site:
    return make_site()


@pytest.fixture(scope="module")
def lasting_site(lasting) -> Site:
    """For a module whose tests all expect the site, and take it ``again``."""
    return make_site()


def make_site() -> Site:
    """Everything once: a flagged HIT in an open round, a draft, a version of another round's verdicts."""
    collection = make_collection(images=8, pictures=True)
    sample = make_sample(collection)
    retrieval = make_retrieval(make_annotator(), sample)
    image = collection.images.first()
    pool = make_pool(sample, [retrieval], pairs=[(image, collection.captions.last())])
    done, opened = make_round(collection, "done"), make_round(collection, "open")
    answer_rightly(done)
    aggregate_round(done)
    return Site(
        collection=collection,
        retrieval=retrieval,
        pool=pool,
        draft=make_round(collection, "draft", published=False),
        round=opened,
        flagged=answer_wrongly(opened),
        version=release_version("v1", collection=collection, sample=sample, rounds=[done]),
    )


def late_on_platform(made: Round) -> None:
    """A posting that was read long ago, a call that failed, and what the account held."""
    where = {"channel": "mturk", "environment": "emulator"}
    hit = made.hits.get()
    Posting.objects.create(round=made, hit=hit, max_assignments=1, state="live", seen_at="2026-01-01T00:00Z", **where)
    Outbox.objects.create(round=made, call="publish", subject=f"x:{made.pk}", state="failed", error="Refused.", **where)
    transaction.atomic(events.record)("account held", made, actor="sync", amount="0.01")


@pytest.fixture
def jobs_run(commit):
    """Have the jobs run that a request starts, as ``with jobs_run():`` ends."""
    return partial(commit, execute=True)


def random_rankings(collection: Collection, seed: int = 0) -> bytes:
    """A file of rankings of the whole gallery in both directions."""
    rng = np.random.default_rng(seed)
    keys = [list(rows.values_list("key", flat=True)) for rows in (collection.images, collection.captions)]
    sides = {"i2t": keys, "t2i": keys[::-1]}
    lists = {side: {query: rng.permutation(of).tolist() for query in asking} for side, (asking, of) in sides.items()}
    return json.dumps(lists).encode()


@pytest.fixture
def charted(researcher):
    """Have the charts of a thing counted by their job, and open one of them; the page that is seen then."""

    def count(address: str, **fields: str) -> HttpResponse:
        _, kind, name, subject = address.strip("/").split("/")
        with TestCase.captureOnCommitCallbacks(execute=True):
            answer = researcher.post(f"/charts/{kind}/{name}/measure", {"show": subject, **fields})
        return researcher.get(answer.url)

    return count
