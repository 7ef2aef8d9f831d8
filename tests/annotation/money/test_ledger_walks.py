"""Whatever is done to a round, in whatever order, twice, and with calls that fail: its accounts balance, none goes
below zero, and the ceiling is passed by nothing but a platform that pays by itself."""

import random
from contextlib import suppress
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Assignment, Payment, Rejection
from annotation.money.budget import set_ceiling
from annotation.money.ledger import balances
from annotation.money.payments import mark_paid, mark_reward_paid, owe_bonus, withdraw
from annotation.review.decisions import decide, drop_proposal, second
from annotation.work.grading import accept
from annotation.work.leases import expire_leases, return_assignment
from annotation.work.repair import free_orphaned_seats
from core.errors import CounterpartError
from crowd.calls.delivery import mark_closed, mark_over, mark_rejected
from crowd.calls.outbox import deliver_due, send_again
from crowd.channels.base import ChannelError
from crowd.models import Outbox, Posting, Visit
from crowd.posting.postings import post_open_seats
from crowd.posting.publication import close_round
from tests.annotation.money.moneyed import UNPAID, accepted, begin, flagged, pooled, posted, submit

STEPS = 45
PAID = {"paid": True, "reason": "I looked."}


class Walk:
    """A round; ``step`` does one of the acts below, drawn by lot, to it or to one of its rows."""

    def __init__(self, made, platform, people, seed):
        self.made, self.platform, self.people, self.lot = made, platform, people, random.Random(seed)
        self.done = []

    def step(self):
        name = self.lot.choice(list(ACTS))
        self.done.append(name)
        rows, act = ACTS[name]
        row = self.one(rows(self)) if rows else self.made
        with suppress(CounterpartError):
            if row:
                act(self, row)

    def one(self, rows):
        rows = list(rows.order_by("pk"))
        return self.lot.choice(rows) if rows else None

    @property
    def person(self):
        return self.lot.choice(self.people)


def work(walk):
    return Assignment.objects.filter(hit__round=walk.made)


def pooled_work(walk):
    return work(walk).filter(outside_key="")


def rejections(walk):
    return Rejection.objects.filter(assignment__hit__round=walk.made)


def waiting_visits(walk):
    return Visit.objects.filter(posting__round=walk.made, state="submitted")


def give_a_bonus(walk, work):
    reason = walk.lot.choice(["Thank you.", "For the outage."])
    owe_bonus(work, amount=Decimal(walk.lot.choice(["0.01", "0.33", "2.00"])), reason=reason, actor="robin")


def run_out(walk, work):
    Assignment.objects.filter(pk=work.pk).update(deadline="2026-01-01T00:00Z")
    expire_leases()


def change_ceiling(walk, made):
    set_ceiling(made, Decimal(walk.lot.choice(["3.00", "5.00", "9.99", "500.00"])), actor="robin")


def call(walk, made):
    Outbox.objects.update(due_at="2026-01-01T00:00Z")
    if walk.lot.random() < 0.5:
        walk.platform.failures.append(ChannelError("no", permanent=walk.lot.random() < 0.3))
    deliver_due(made)
    walk.platform.failures.clear()


def approve_there(walk, visit):
    Visit.objects.filter(pk=visit.pk).update(state="approved")
    mark_reward_paid(visit.assignment)


def end_there(walk, posting):
    with transaction.atomic():
        mark_closed(posting)
        mark_over(posting, unused=posting.unused)
    post_open_seats(walk.made)


# Acts on a round: the rows of which one is drawn (None: the round itself), and the act.
ACTS = {
    "take": (None, lambda walk, made: begin(made)),
    "hand in": (None, lambda walk, made: submit(made)),
    "hand in well": (None, lambda walk, made: accepted(made)),
    "hand in badly": (None, lambda walk, made: flagged(made)),
    "accept again": (work, lambda walk, work: accept(work)),
    "exclude and pay": (work, lambda walk, work: decide(work, **PAID, votes_count=False, by=walk.person)),
    "count and pay": (work, lambda walk, work: decide(work, **PAID, votes_count=True, by=walk.person)),
    "refuse": (work, lambda walk, work: decide(work, **UNPAID, reason="All the same.", by=walk.person)),
    "agree": (rejections, lambda walk, rejection: second(rejection, by=walk.person)),
    "give up": (rejections, lambda walk, rejection: drop_proposal(rejection, by=walk.person)),
    "take back": (lambda walk: work(walk).filter(state="excluded"), lambda walk, work: withdraw(work, actor="robin")),
    "give a bonus": (work, give_a_bonus),
    "pay by hand twice": (
        lambda walk: Payment.objects.filter(round=walk.made),
        lambda walk, payment: (mark_paid(payment, actor="robin"), mark_paid(payment, actor="robin")),
    ),
    "come back": (pooled_work, lambda walk, work: return_assignment(work, actor="robin")),
    "run out": (lambda walk: pooled_work(walk).filter(state="leased"), run_out),
    "heal": (None, lambda walk, made: free_orphaned_seats()),
    "change the ceiling": (None, change_ceiling),
    "post": (None, lambda walk, made: post_open_seats(made)),
    "call": (None, call),
    "call again": (
        lambda walk: Outbox.objects.filter(state="failed"),
        lambda walk, row: send_again(row, actor="robin"),
    ),
    "approve there": (waiting_visits, approve_there),
    "refuse there twice": (waiting_visits, lambda walk, visit: (mark_rejected(visit), mark_rejected(visit))),
    "end there": (lambda walk: Posting.objects.filter(hit__round=walk.made, state="live", settled_at=None), end_there),
    "close": (None, lambda walk, made: walk.lot.random() < 0.1 and close_round(made, actor="robin")),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [pooled, posted])
def test_the_accounts_balance_after_every_step(db, platform, make, seed):
    people = [User.objects.create_user(username=name) for name in ("robin", "sam")]
    walk = Walk(make(hits=5, replication=2), platform, people, seed)
    forced = 0
    for _ in range(STEPS):
        walk.step()
        walk.made.refresh_from_db()
        accounts = balances(walk.made)
        assert sum(accounts.values()) == 0, walk.done[-6:]
        assert min(accounts[name] for name in accounts if name not in ("outside", "free")) >= 0, walk.done[-6:]
        forced += walk.done[-1] == "approve there"
        assert accounts["free"] >= 0 or forced, walk.done[-6:]
