"""A whole round on the emulator: simulated workers of every conduct, and our commands."""

from collections import Counter
from decimal import Decimal

import pytest

from annotation.models import Assignment, Judgment, Payment
from crowd.models import Posting, Visit
from hits.models import Round
from hits.rounds.packed_rounds import pack_round
from hits.rounds.round_parameters import PackParameters
from tests.commands import figures_printed, output_of
from tests.crowd.platform import Rehearsal
from tests.crowd.platform_books import Books, check_both_sides, check_judgments
from tests.factories import make_collection
from tests.hits.pools import pool_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

HITS, VOTES, IMAGES = 8, 2, 20


@pytest.fixture
def packed() -> Round:
    """8 HITs of 18 pairs, two answer sets each, packed as every round is."""
    collection = make_collection(images=IMAGES, pictures=True)
    made = pack_round(
        "show",
        pool_of(16 * HITS, images=IMAGES, collection=collection),
        PackParameters(replication=VOTES, reward=Decimal("1.00"), seed=1),
    )
    assert made.hits.count() == HITS
    return made


def submitted_there(there: Rehearsal) -> list[tuple[int, str]]:
    """Our HIT and the worker of every submission, as the emulator itself has them."""
    ours = dict(Posting.objects.values_list("external_id", "hit"))
    with there.world.looking() as state:
        return [
            (ours[hit.id], each.worker_id)
            for hit in state.hits.values()
            for each in hit.assignments
            if each.submitted_at
        ]


def check_crowd(crowd: dict, theirs: Books) -> None:
    """Everybody strayed as they should, and both sides counted that alike."""
    assert all(crowd[conduct] for conduct in ("excluded", "returned", "abandoned", "submitted twice")), crowd
    assert (crowd["accepted"], crowd["seats still open"], crowd["not taken in yet"]) == (HITS * VOTES, 0, 0)
    assert crowd["refused"] == crowd["submitted twice"]
    assert theirs.statuses["Returned"] == crowd["returned"] + crowd["turned away"]
    assert theirs.statuses["Abandoned"] == crowd["abandoned"]


def test_a_whole_round_ends_with_every_answer_stored_once_and_every_cent_accounted_for(there, packed):
    output_of("publish", "show", "--channel", "mturk", "--environment", "emulator", "--expected-minutes", "4")
    crowd = figures_printed("simulate", "show", "--workers", "40", "--seed", "4")
    assert "16 of 16 seats filled" in output_of("close", "show")
    output_of("sync", "show")
    theirs, submitted = check_both_sides(packed, there), crowd["submitted"]
    check_crowd(crowd, theirs)
    check_judgments(packed)
    taken_in = Assignment.objects.without_claims().filter(visit__state__in=Visit.LISTED)
    assert len(theirs.submitted) == submitted == Payment.objects.count() == taken_in.count()
    assert Judgment.objects.count() == 18 * submitted
    assert theirs.spent == {"reward": submitted * Decimal("1.00"), "fee": submitted * Decimal("0.20")}
    assert max(Counter(submitted_there(there)).values()) == 1
    assert figures_printed("reconcile_books", "show") == {"differences": 0, "platform": []}
    ledger = figures_printed("ledger", "show")
    assert (ledger["planned"], ledger["held"], ledger["owed"]) == ("0.00", "0.00", "0.00")
    assert Decimal(ledger["paid"]) + Decimal(ledger["fees"]) == theirs.total == Decimal("1.20") * submitted
