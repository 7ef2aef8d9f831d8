"""A whole round of 60 HITs on the emulator: bots of every conduct on one side, our commands on the other."""

import json

import pytest
from django.core.management import call_command

from annotation.models import Judgment
from hits.models import Assignment, Payment, PlatformHIT, Round
from hits.planning.packed_rounds import pack_round
from tests.annotation.platform import Rehearsal, rehearsing
from tests.annotation.platform_books import check_both_sides, check_judgments
from tests.factories import make_collection
from tests.hits.planning.pools import pool_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

HITS, VOTES = 60, 2


@pytest.fixture
def there(live_server, settings):
    settings.SITE_URL = live_server.url
    with rehearsing(settings) as made:
        yield made


@pytest.fixture
def packed() -> Round:
    """60 HITs of 18 pairs, two answer sets each, packed as every round is."""
    collection = make_collection(images=HITS, pictures=True)
    made = pack_round("show", pool=pool_of(16 * HITS, images=HITS, collection=collection), replication=VOTES, seed=1)
    assert made.hits.count() == HITS
    return made


def run(capsys, name: str, *arguments: object) -> dict:
    call_command(name, "show", *map(str, arguments))
    return json.loads(capsys.readouterr().out)


def accounts(there: Rehearsal) -> dict[str, list[str]]:
    """Who submitted what, as the emulator itself tells it: HIT to workers."""
    with there.world.looking() as state:
        ended = [each for hit in state.hits.values() for each in hit.assignments if each.submitted_at]
        done: dict[str, list[str]] = {}
        for each in ended:
            done.setdefault(each.hit.id, []).append(each.worker_id)
        return done


def test_a_round_of_60_hits_ends_with_every_answer_stored_once_and_every_cent_told(there, packed, capsys):
    call_command("publish", "show", "--channel", "mturk", "--environment", "emulator", "--expected-minutes", "4")
    capsys.readouterr()
    crowd = run(capsys, "simulate", "--workers", 40, "--seed", 4, "--json")
    run(capsys, "sync", "--json")
    call_command("close", "show")
    assert "is closed with 120 of 120 seats filled; 0 still leased" in capsys.readouterr().out
    run(capsys, "sync", "--json")

    conducts = ("excluded", "returned", "abandoned", "submitted twice")
    assert all(crowd[conduct] for conduct in conducts), crowd
    assert (crowd["accepted"], crowd["seats still open"], crowd["not taken in yet"]) == (HITS * VOTES, 0, 0)
    assert crowd["refused"] == crowd["submitted twice"]

    theirs = check_both_sides(packed, there)
    check_judgments(packed)
    assert len(theirs.submitted) == crowd["submitted"] == Payment.objects.count() == Assignment.objects.count()
    assert Judgment.objects.count() == 18 * crowd["submitted"]
    assert theirs.total == crowd["submitted"] * (packed.reward + theirs.spent["fee"] / crowd["submitted"])
    assert (theirs.statuses["Returned"], theirs.statuses["Abandoned"]) == (
        crowd["returned"] + crowd["turned away"],
        crowd["abandoned"],
    )

    done = accounts(there)
    ours = {posting.external_id: posting.hit_id for posting in PlatformHIT.objects.all()}
    workers: dict[int, list[str]] = {}
    for hit_id, names in done.items():
        workers.setdefault(ours[hit_id], []).extend(names)
    assert all(len(names) == len(set(names)) for names in workers.values())

    assert run(capsys, "audit", "--json") == {"differences": 0, "platform": [], "books": []}
    ledger = run(capsys, "ledger", "--json")
    assert (ledger["planned"], ledger["held"], ledger["owed"], ledger["differences"]) == ("0.00", "0.00", "0.00", [])
    assert f"{theirs.spent['reward']:.2f}" == ledger["paid"]
