"""A whole rehearsal over HTTP: the emulator and our site on ports, a crowd, and the books of both sides."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from annotation.models import Assignment, Judgment, Payment
from annotation.money.ledger import balances
from crowd.differences import find_differences
from crowd.models import Outbox, Visit
from hits.models import Round
from tests.crowd.platform import Rehearsal

ENDED = ("Submitted", "Approved", "Rejected")


@dataclass(frozen=True)
class Books:
    """What the emulator itself holds, read from its own world: US dollars by kind of movement, and its submissions."""

    spent: dict[str, Decimal]
    on_hold: Decimal
    submitted: list[str]
    statuses: Counter

    @property
    def total(self) -> Decimal:
        return sum(self.spent.values(), Decimal("0.00"))


def books_of(there: Rehearsal) -> Books:
    with there.world.looking() as state:
        spent: Counter = Counter()
        for entry in state.ledger.entries:
            if entry.what in ("reward", "fee", "bonus", "bonus fee"):
                spent[entry.what] -= entry.available + entry.on_hold
        rows = [each for hit in state.hits.values() for each in hit.assignments]
        submitted = [each.id for each in rows if each.status in ENDED]
        return Books(dict(spent), state.ledger.on_hold, submitted, Counter(each.status for each in rows))


def check_both_sides(made: Round, there: Rehearsal) -> Books:
    """Hold a round that has come to rest against the emulator's own books: nothing lost, doubled or unpaid."""
    made.refresh_from_db()
    theirs, ours = books_of(there), balances(made)
    taken_in = Assignment.objects.without_claims().filter(visit__state__in=Visit.LISTED)
    assert sorted(taken_in.values_list("outside_key", flat=True)) == sorted(theirs.submitted)
    assert len(theirs.submitted) == len(set(theirs.submitted)) == Payment.objects.count()
    assert set(Payment.objects.values_list("state", "kind")) == {("paid", "reward")}
    assert theirs.statuses["Approved"] == len(theirs.submitted)
    assert (ours["paid"], ours["fees"]) == (theirs.spent["reward"], theirs.spent["fee"])
    assert (ours["held"], theirs.on_hold, ours["owed"]) == (0, 0, 0)
    assert sum(ours.values()) == 0
    assert find_differences(made) == []
    assert not Outbox.objects.exclude(state="done").exists()
    return theirs


def check_judgments(made: Round) -> None:
    """Every answer set is whole and stored once, and no worker has judged a pair twice."""
    sets = Counter(Judgment.objects.values_list("assignment", flat=True))
    pairs = {hit.pk: hit.items.count() for hit in made.hits.all()}
    taken_in = Assignment.objects.without_claims().filter(visit__state__in=Visit.LISTED)
    assert {pk: pairs[hit] for pk, hit in taken_in.values_list("pk", "hit")} == dict(sets)
    judged = Counter(Judgment.objects.values_list("worker", "image", "caption"))
    assert set(judged.values()) == {1}
