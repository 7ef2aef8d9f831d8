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
    """A round; ``step`` does one of the acts below, drawn by lot."""

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


class Acts(Walk):
    """What may befall a round."""

    def take(self):
        begin(self.made)

    def hand_in(self):
        submit(self.made)

    def hand_in_well(self):
        accepted(self.made)

    def hand_in_badly(self):
        flagged(self.made)

    def accept_again(self):
        if work := self.one(self.work):
            accept(work)

    def exclude_and_pay(self):
        if work := self.one(self.work):
            decide(work, votes_count=False, paid=True, reason="careless", by=self.person)

    def count_and_pay(self):
        if work := self.one(self.work):
            decide(work, votes_count=True, paid=True, reason="right", by=self.person)

    def refuse(self):
        if work := self.one(self.work):
            decide(work, **UNPAID, reason="All the same.", by=self.person)

    def agree(self):
        if rejection := self.one(Rejection.objects.filter(assignment__hit__round=self.made)):
            second(rejection, by=self.person)

    def give_up(self):
        if rejection := self.one(Rejection.objects.filter(assignment__hit__round=self.made)):
            drop_proposal(rejection, by=self.person)

    def take_back(self):
        if work := self.one(self.work.filter(state="excluded")):
            withdraw(work, actor="robin")

    def give_a_bonus(self):
        if work := self.one(self.work):
            reason = self.lot.choice(["Thank you.", "For the outage."])
            owe_bonus(work, amount=Decimal(self.lot.choice(["0.01", "0.33", "2.00"])), reason=reason, actor="robin")

    def pay_by_hand(self):
        if payment := self.one(Payment.objects.filter(round=self.made)):
            mark_paid(payment, actor="robin"), mark_paid(payment, actor="robin")

    def come_back(self):
        if work := self.one(self.work.filter(outside_key="")):
            return_assignment(work, actor="robin")

    def run_out(self):
        if work := self.one(self.work.filter(state="leased", outside_key="")):
            Assignment.objects.filter(pk=work.pk).update(deadline="2026-01-01T00:00Z")
            expire_leases()

    def heal(self):
        free_orphaned_seats()

    def change_ceiling(self):
        set_ceiling(self.made, Decimal(self.lot.choice(["3.00", "5.00", "9.99", "500.00"])), actor="robin")

    def post(self):
        post_open_seats(self.made)

    def call(self):
        Outbox.objects.update(due_at="2026-01-01T00:00Z")
        if self.lot.random() < 0.5:
            self.platform.failures.append(ChannelError("no", permanent=self.lot.random() < 0.3))
        deliver_due(self.made)
        self.platform.failures.clear()

    def call_again(self):
        if row := self.one(Outbox.objects.filter(state="failed")):
            send_again(row, actor="robin")

    def approve_there(self):
        undecided = Visit.objects.filter(posting__round=self.made, state="submitted")
        if visit := self.one(undecided):
            undecided.filter(pk=visit.pk).update(state="approved")
            mark_reward_paid(visit.assignment)

    def refuse_there(self):
        if visit := self.one(Visit.objects.filter(posting__round=self.made, state="submitted")):
            mark_rejected(visit), mark_rejected(visit)

    def end_there(self):
        if posting := self.one(Posting.objects.filter(hit__round=self.made, state="live", settled_at=None)):
            with transaction.atomic():
                mark_closed(posting)
                mark_over(posting, unused=posting.unused)
            post_open_seats(self.made)

    def close(self):
        if self.lot.random() < 0.1:
            close_round(self.made, actor="robin")


ACTS = [act for act in vars(Acts).values() if callable(act)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [pooled, posted])
def test_the_accounts_balance_after_every_step(db, platform, make, seed):
    people = [User.objects.create_user(username=name) for name in ("robin", "sam")]
    walk = Acts(make(hits=5, replication=2), platform, people, seed)
    forced = 0
    for _ in range(STEPS):
        walk.step()
        walk.made.refresh_from_db()
        accounts = balances(walk.made)
        assert sum(accounts.values()) == 0, walk.done[-6:]
        assert min(accounts[name] for name in accounts if name not in ("outside", "free")) >= 0, walk.done[-6:]
        forced += walk.done[-1] == "approve_there"
        assert accounts["free"] >= 0 or forced, walk.done[-6:]
