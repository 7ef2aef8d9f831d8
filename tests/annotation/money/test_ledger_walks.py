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


class Walk:
    """A round and the acts that may befall it; ``step`` does one of them, drawn by lot."""

    def __init__(self, made, platform, people, seed):
        self.made, self.platform, self.people, self.lot = made, platform, people, random.Random(seed)
        self.done = []

    def step(self):
        act = self.lot.choice(ACTS)
        self.done.append(act.__name__)
        with suppress(CounterpartError):
            act(self)

    def one(self, rows):
        rows = list(rows.order_by("pk"))
        return self.lot.choice(rows) if rows else None

    @property
    def work(self):
        return Assignment.objects.filter(hit__round=self.made)

    @property
    def person(self):
        return self.lot.choice(self.people)


def take(walk):
    begin(walk.made)


def hand_in(walk):
    submit(walk.made)


def hand_in_well(walk):
    accepted(walk.made)


def hand_in_badly(walk):
    flagged(walk.made)


def accept_again(walk):
    if work := walk.one(walk.work):
        accept(work)


def exclude_and_pay(walk):
    if work := walk.one(walk.work):
        decide(work, votes_count=False, paid=True, reason="careless", by=walk.person)


def count_and_pay(walk):
    if work := walk.one(walk.work):
        decide(work, votes_count=True, paid=True, reason="right", by=walk.person)


def refuse(walk):
    if work := walk.one(walk.work):
        decide(work, **UNPAID, reason="All the same.", by=walk.person)


def agree(walk):
    if rejection := walk.one(Rejection.objects.filter(assignment__hit__round=walk.made)):
        second(rejection, by=walk.person)


def give_up(walk):
    if rejection := walk.one(Rejection.objects.filter(assignment__hit__round=walk.made)):
        drop_proposal(rejection, by=walk.person)


def take_back(walk):
    if work := walk.one(walk.work.filter(state="excluded")):
        withdraw(work, actor="robin")


def give_a_bonus(walk):
    if work := walk.one(walk.work):
        reason = walk.lot.choice(["Thank you.", "For the outage."])
        owe_bonus(work, amount=Decimal(walk.lot.choice(["0.01", "0.33", "2.00"])), reason=reason, actor="robin")


def pay_by_hand(walk):
    if payment := walk.one(Payment.objects.filter(round=walk.made)):
        mark_paid(payment, actor="robin"), mark_paid(payment, actor="robin")


def come_back(walk):
    if work := walk.one(walk.work.filter(outside_key="")):
        return_assignment(work, actor="robin")


def run_out(walk):
    if work := walk.one(walk.work.filter(state="leased", outside_key="")):
        Assignment.objects.filter(pk=work.pk).update(deadline="2026-01-01T00:00Z")
        expire_leases()


def heal(walk):
    free_orphaned_seats()


def change_ceiling(walk):
    set_ceiling(walk.made, Decimal(walk.lot.choice(["3.00", "5.00", "9.99", "500.00"])), actor="robin")


def post(walk):
    post_open_seats(walk.made)


def call(walk):
    Outbox.objects.update(due_at="2026-01-01T00:00Z")
    if walk.lot.random() < 0.5:
        walk.platform.failures.append(ChannelError("no", permanent=walk.lot.random() < 0.3))
    deliver_due(walk.made)
    walk.platform.failures.clear()


def call_again(walk):
    if row := walk.one(Outbox.objects.filter(state="failed")):
        send_again(row, actor="robin")


def approve_there(walk):
    undecided = Visit.objects.filter(posting__round=walk.made, state="submitted")
    if visit := walk.one(undecided):
        undecided.filter(pk=visit.pk).update(state="approved")
        mark_reward_paid(visit.assignment)


def refuse_there(walk):
    if visit := walk.one(Visit.objects.filter(posting__round=walk.made, state="submitted")):
        mark_rejected(visit), mark_rejected(visit)


def end_there(walk):
    if posting := walk.one(Posting.objects.filter(hit__round=walk.made, state="live", settled_at=None)):
        with transaction.atomic():
            mark_closed(posting)
            mark_over(posting, unused=posting.unused)
        post_open_seats(walk.made)


def close(walk):
    if walk.lot.random() < 0.1:
        close_round(walk.made, actor="robin")


ACTS = [
    *[take, hand_in, hand_in_well, hand_in_badly, accept_again, exclude_and_pay, count_and_pay, refuse, agree, give_up],
    *[take_back, give_a_bonus, pay_by_hand, come_back, run_out, heal, change_ceiling, post, call, call_again],
    *[approve_there, refuse_there, end_there, close],
]


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
        forced += walk.done[-1] == "approve_there"
        assert accounts["free"] >= 0 or forced, walk.done[-6:]
