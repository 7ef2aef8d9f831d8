"""A simulated crowd at the emulator's workers' site, and our commands."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Judgment, WorkerIdentity
from core.errors import CounterpartError
from hits.models import Round, Seat
from simulation.simulated_rounds import simulate_round
from tests.crowd.platform import rehearsing
from tests.crowd.platform_books import check_both_sides, check_judgments
from tests.factories import make_round, put_on_platform

pytestmark = pytest.mark.slow


def publish(**options) -> Round:
    made = make_round(published=False, **options)
    call_command("publish", made.name, channel="mturk", environment="emulator", stdout=StringIO())
    made.refresh_from_db()
    return made


def end(made: Round) -> None:
    call_command("close", made.name, stdout=StringIO())
    call_command("sync", made.name, stdout=StringIO())


@pytest.mark.parametrize("conduct", ["double_clicks", "stale_tabs"])
def test_what_is_sent_twice_is_stored_and_paid_once(there, profile, conduct):
    made = publish(hits=3, reasons=True)
    figures = simulate_round(made, workers=2, profile=profile(**{conduct: 1.0}))
    end(made)
    assert (figures["submitted"], figures["submitted twice"], figures["refused"]) == (3, 3, 3)
    assert set(Judgment.objects.values_list("level", flat=True)) != {1}  # what a stale tab sends
    check_both_sides(made, there)
    check_judgments(made)


def test_a_crowd_that_only_leaves_ends(there, profile):
    made = publish(hits=2)
    figures = simulate_round(made, workers=3, profile=profile(returns=0.5, abandons=0.5))
    assert (figures["submitted"], figures["seats still open"]) == (0, 2)
    assert figures["returned"] + figures["abandoned"] == 6
    assert not Assignment.objects.without_claims().exists()


def test_a_pair_that_a_worker_knows_is_given_back_and_done_by_another(there, profile):
    made = publish(hits=2)
    first, second = made.hits.order_by("number")
    shared = second.items.filter(control=None).first()
    first.items.filter(control=None, place=1).update(image=shared.image, caption=shared.caption)
    figures = simulate_round(made, workers=2, profile=profile(speed_spread=0.0))
    assert figures["seats still open"] == 0
    assert Judgment.objects.values("worker", "image", "caption").distinct().count() == Judgment.objects.count()


def test_a_round_is_found_among_others_with_the_same_words(there, profile):
    other = publish(hits=2)
    made = publish(hits=2, name="round-2", collection=other.pool.collection)
    figures = simulate_round(made, workers=2, profile=profile())
    assert figures["accepted"] == 2
    assert not Assignment.objects.filter(hit__round=other).exists()


def test_a_round_asks_for_demands_that_the_crowd_meets(there, profile):
    made = make_round(published=False)
    demands = {"top_workers": True, "min_approved": 5000, "min_approval_rate": 99, "countries": "GB"}
    call_command("publish", made.name, channel="mturk", environment="emulator", stdout=StringIO(), **demands)
    made.refresh_from_db()
    assert simulate_round(made, workers=1, profile=profile())["accepted"] == 1


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_no_crowd_goes_where_people_work_for_money(there, environment):
    made = put_on_platform(make_round(), environment)
    with pytest.raises(CommandError, match=f"is on mturk {environment}"):
        call_command("simulate", made.name)
    assert not WorkerIdentity.objects.exists()


def test_an_emulator_that_does_not_run_is_named(there, profile):
    made = publish()
    there.emulator.stop()
    with pytest.raises(CounterpartError, match=there.emulator.url):
        simulate_round(made, workers=1, profile=profile())


def test_an_emulator_that_has_forgotten_the_round_is_reported(there, profile, settings):
    made = publish()
    with rehearsing(settings):
        figures = simulate_round(made, workers=1, profile=profile())
    assert (figures["submitted"], figures["seats still open"]) == (0, 1)
    assert "does not exist" in figures["failures"][0]["failure"]


def test_our_site_that_does_not_run_is_named(there, profile, settings):
    settings.SITE_URL = "http://127.0.0.1:9"
    made = publish()
    with pytest.raises(CounterpartError, match="http://127.0.0.1:9/judge/"):
        simulate_round(made, workers=1, profile=profile())


def test_conduct_that_a_browser_pool_does_not_know_is_refused(transactional_db):
    with pytest.raises(CounterpartError, match="returns, abandons, .* cannot"):
        simulate_round(make_round(), profile="rehearsal")
    assert Seat.objects.filter(state="open").count() == 1


def test_the_crowd_meets_the_emulator_behind_another_address(there, profile, monkeypatch):
    monkeypatch.setenv("MTURK_EMULATOR_ORIGINS", "http://127.0.0.1:1")
    made = publish(hits=3)
    figures = simulate_round(made, workers=12, profile=profile(abandons=0.5), seed=3)
    assert (figures["accepted"], figures["abandoned"] > 0, figures["hours forward"] >= 1) == (3, True, True)
