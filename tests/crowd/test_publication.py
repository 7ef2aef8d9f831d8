from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from annotation.money.wages import Expectation
from annotation.work.leases import lease_seat
from annotation.work.standing import standing_of
from core.errors import CounterpartError
from core.models import Event
from corpus.models import Image
from crowd.models import Outbox, Posting
from crowd.posting.publication import can_close, close_round, join_link, publish_round, quote
from hits.models import Round
from tests.annotation.cast import answer
from tests.factories import make_round, make_worker


def draft(reward="2.50", **options):
    return make_round(published=False, reward=reward, **options)


def test_publishing_is_stored_before_the_platform_is_called(db, platform):
    publish_round(draft(hits=2), channel="mturk", actor="robin")
    assert platform.calls == []
    assert Event.objects.get(verb="published").actor == "robin"
    calls = set(Outbox.objects.values_list("call", "subject"))
    assert calls == {("publish", f"crowd.posting:{pk}") for pk in Posting.objects.values_list("pk", flat=True)}
    assert Posting.objects.count() == 2


def test_a_platform_is_rehearsed_by_default_and_the_words_of_an_offer_are_kept(db, platform):
    made = publish_round(draft(), channel="mturk", actor="robin")
    assert made.environment == "emulator"
    assert made.offer["title"] == "Does the sentence describe the picture?"


def test_publishing_twice_changes_nothing_and_a_round_is_open_in_one_place_only(db, platform):
    made = publish_round(draft(), actor="robin")
    published_at = made.published_at
    assert publish_round(made, actor="sam").published_at == published_at
    assert Event.objects.filter(verb="published").count() == 1
    with pytest.raises(CounterpartError, match="open on browser"):
        publish_round(made, channel="mturk", environment="sandbox", actor="robin")


@pytest.mark.parametrize(("channel", "limit"), [("browser", 45), ("mturk", 60)])
def test_a_hit_that_takes_longer_than_workers_may_have_it_is_not_published(db, platform, channel, limit):
    made = draft(reward="30.00")
    with pytest.raises(CounterpartError, match=f"{limit + 1} minutes"):
        publish_round(made, channel=channel, expected_minutes=Decimal(limit + 1), actor="robin")
    assert publish_round(made, channel=channel, expected_minutes=Decimal(limit), actor="robin").state == "open"


def test_volunteers_may_be_asked_for_nothing(db):
    made = draft(reward="0.00")
    Round.objects.update(wage_floor=0)
    assert publish_round(made, actor="robin").state == "open"
    assert lease_seat(made, worker=make_worker()) is not None


def test_losing_the_race_to_publish_is_ordinary(db, monkeypatch):
    made = draft()

    def publish_first(round, channel, missing):
        Round.objects.update(published_at="2026-01-01T00:00Z", channel="browser")

    monkeypatch.setattr("crowd.posting.publication._preflight", publish_first)
    assert publish_round(made, actor="robin").published_at.year == 2026
    assert not Event.objects.filter(verb="published").exists()


def test_a_round_with_missing_pictures_is_published_on_request_only(db):
    made = draft()
    Image.objects.filter(key__in=["0", "1", "2"]).update(file="")
    with pytest.raises(CounterpartError, match="^3 pictures .*--skip-missing"):
        publish_round(made, actor="robin")
    made.refresh_from_db()
    assert (made.state, Outbox.objects.count(), Event.objects.filter(verb="published").count()) == ("draft", 0, 0)
    assert publish_round(made, skip_missing=True, actor="robin").state == "open"
    assert Event.objects.get(verb="published").data["missing"] == 3


def test_pictures_that_no_pair_shows_may_be_missing(db):
    made = draft()
    Image.objects.exclude(pk__in=made.hits.values("items__image")).update(file="")
    assert publish_round(made, actor="robin").state == "open"


def test_a_round_may_cost_its_ceiling_and_not_a_cent_more(db):
    made = draft(hits=2)
    Round.objects.update(ceiling="4.99")
    with pytest.raises(CounterpartError, match=r"\$5.00 .*\$4.99"):
        publish_round(made, actor="robin")
    assert Round.objects.get().state == "draft"
    Round.objects.update(ceiling="5.00")
    assert publish_round(made, actor="robin").state == "open"


@pytest.mark.parametrize(
    ("channel", "environment", "message"),
    [("browser", "sandbox", "leave it out"), ("mturk", "moon", "choose one of emulator, sandbox, production")],
)
def test_an_environment_must_be_the_channels_own(db, platform, channel, environment, message):
    with pytest.raises(CounterpartError, match=message):
        publish_round(draft(), channel=channel, environment=environment, actor="robin")


def test_a_draft_cannot_be_closed(db):
    with pytest.raises(CounterpartError, match="was never published"):
        close_round(draft(), actor="robin")


@pytest.fixture
def judged(db):
    """A draft whose pairs were judged elsewhere, with a second HIT without judgments."""
    made = draft(hits=2)
    answer(made.hits.first(), 1, 4)
    return made


def test_a_draft_that_was_judged_elsewhere_is_closed_once_costs_nothing_and_is_published_no_more(judged):
    for _ in range(2):
        assert close_round(judged, actor="robin").state == "closed"
    assert Event.objects.filter(verb="closed").count() == 1
    assert not can_close(judged)
    standing = standing_of(judged)
    assert (standing.filled, standing.wanted, standing.expected_cost) == (1, 2, 0)
    with pytest.raises(CounterpartError, match="was closed on"):
        publish_round(judged, actor="robin")
    judged.refresh_from_db()
    assert (judged.state, judged.published_at, judged.channel) == ("closed", None, "")


def test_a_round_without_seats_is_not_published(db):
    with pytest.raises(CounterpartError, match="has no seats"):
        publish_round(draft(hits=0), actor="robin")


def test_publishing_a_draft_that_is_closed_meanwhile_is_refused(judged, monkeypatch):
    def check(*given, **more):
        close_round(Round.objects.get(), actor="sam")
        return Expectation(seconds=None)

    monkeypatch.setattr("crowd.posting.publication.check_publishable", check)
    with pytest.raises(CounterpartError, match="was closed on"):
        publish_round(judged, actor="robin")


def test_the_join_link_has_the_rounds_secret_and_the_sites_address(db, settings):
    settings.SITE_URL = "https://example.org"
    assert join_link(make_round()) == "https://example.org/judge/join/join-round-1/"


def test_the_command_publishes_below_the_floor_only_with_the_option(db, capsys):
    draft(reward="0.65")
    with pytest.raises(CommandError, match="--below-floor"):
        call_command("publish", "round-1", channel="browser")
    assert Round.objects.get().state == "draft"
    call_command("publish", "round-1", "--channel=browser", "--below-floor")
    assert "/judge/join/join-round-1/" in capsys.readouterr().out


def test_a_quote_names_rewards_and_fees_to_the_cent(db):
    made = make_round(hits=3, replication=2, published=False)
    found = quote(made, "mturk")
    assert (found.seats, found.reward, found.fee) == (6, Decimal("0.65"), Decimal("0.13"))
    assert (found.rewards, found.fees, found.total) == (Decimal("3.90"), Decimal("0.78"), Decimal("4.68"))
