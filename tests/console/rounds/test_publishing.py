"""Publishing on a platform from the pages: what is shown, what is asked, and that one press posts once."""

from decimal import Decimal

import pytest
from django.urls import reverse

from annotation.models import Admission, Invitation
from annotation.people.admission import join_round, make_invitations
from annotation.people.consent import SHEET_WORDS
from core.models import Event, Job
from crowd.channels.base import ChannelError
from crowd.jobs import publish as publish_job
from crowd.models import Posting
from hits.models import Round
from tests.crowd.platform import rehearsal
from tests.factories import make_round, make_worker

__all__ = ["rehearsal"]

EMULATED, REAL = "mturk:emulator", "mturk:production"
FILLED_IN = {
    "title": "Do these sentences describe these pictures?",
    "description": "Look and say.",
    "keywords": "image, text",
    "minutes": 30,
    "lifetime_days": 3,
    "auto_approval_days": 5,
    "frame_height": 900,
    "min_approved": 0,
    "min_approval_rate": 0,
    "countries": "us, gb",
}


@pytest.fixture
def draft(db) -> Round:
    """A draft with two HITs."""
    return make_round(hits=2, name="draft", published=False)


def publish(client, on=EMULATED, **fields):
    return client.post(reverse("round_publish", args=["draft"]), FILLED_IN | {"on": on} | fields)


def form_page(client, on=EMULATED):
    return client.get(reverse("round_publish", args=["draft"]), {"on": on})


def test_only_what_the_settings_allow_is_offered(researcher, draft, settings):
    offered = [one.key for one in form_page(researcher, "browser").context["environments"]]
    assert offered == ["browser", EMULATED, "prolific:emulator"]
    assert form_page(researcher, REAL).status_code == 404


def test_the_form_shows_the_cost_with_the_fee_and_the_balance_of_the_account(researcher, draft, platform):
    context = form_page(researcher).context
    quote = context["quote"]
    assert (quote.seats, quote.reward, quote.fee, quote.total) == (2, *map(Decimal, ("0.65", "0.13", "1.56")))
    assert context["funds"].amount == 10_000


def test_an_unreachable_platform_is_named_on_the_form(researcher, draft, platform, monkeypatch):
    def out_of_reach(environment):
        raise ChannelError("The line is cut.")

    monkeypatch.setattr(platform, "funds", out_of_reach)
    assert "The line is cut." in form_page(researcher).text
    answer = publish(researcher)
    assert (answer.status_code, "The line is cut." in answer.text) == (422, True)


def test_the_last_look_shows_the_postings_and_posts_nothing(researcher, draft, platform):
    answer = publish(researcher, expected_minutes="2")
    assert (answer.status_code, answer.context["n_postings"], answer.context["hourly"]) == (200, 2, Decimal("19.5"))
    assert all(word in answer.text for word in ("Look and say.", "30 minutes", "in US, GB", "$1.56"))
    assert 'name="typed"' not in answer.text
    assert (Job.objects.count(), Round.objects.get().state) == (0, "draft")


def test_the_offer_decides_the_cost_and_can_be_changed_again(researcher, draft, rehearsal):
    quote = publish(researcher, top_workers="on").context["quote"]
    assert (quote.fee, quote.total) == (Decimal("0.16"), Decimal("1.62"))
    answer = publish(researcher, confirmed="1.56", change="yes")
    assert (answer.status_code, Job.objects.count()) == (200, 0)
    assert answer.context["form"]["countries"].value() == FILLED_IN["countries"]


def test_a_confirmed_round_is_posted_by_a_job(researcher, draft, rehearsal, commit):
    with commit(execute=True):
        answer = publish(researcher, confirmed="1.56", expected_minutes="2")
    job, made = Job.objects.get(), Round.objects.get()
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert (job.state, "2 of 2 HITs" in job.message) == ("done", True)
    assert (made.environment, made.offer["countries"], made.expected_seconds) == ("emulator", ["US", "GB"], 120)
    assert len(rehearsal.world.call("ListHITs", {})["HITs"]) == 2
    assert Event.objects.get(verb="published").actor == "researcher"


def test_a_second_click_starts_no_second_job_before_and_after_the_round_is_open(researcher, draft, platform, commit):
    with commit(execute=True):
        first, second = (publish(researcher, confirmed="1.56") for _ in range(2))
    assert (first.url, Job.objects.count()) == (second.url, 1)
    with commit(execute=True):
        answer = publish(researcher, confirmed="1.56")
    assert (answer.url, Job.objects.count(), Posting.objects.count()) == ("/rounds/draft/", 1, 2)


def test_a_round_that_costs_more_when_its_job_runs_than_was_confirmed_is_not_published(researcher, draft, platform):
    publish(researcher, confirmed="1.56")
    Round.objects.update(reward="0.90")
    job = Job.objects.get()
    publish_job(str(job.pk))
    job.refresh_from_db()
    assert ("$2.16" in job.message, "$1.56" in job.message) == (True, True)
    assert Round.objects.get().state == "draft"


def test_another_cost_than_was_shown_is_not_confirmed(researcher, draft, platform):
    answer = publish(researcher, confirmed="0.01")
    assert (answer.status_code, bool(answer.context["trouble"]), Job.objects.count()) == (409, True, 0)


def test_real_money_needs_the_rounds_name_and_is_spent_once_it_is_typed(researcher, draft, platform):
    assert 'name="typed"' in publish(researcher, on=REAL).text
    for typed in ("", "Draft", "yes"):
        answer = publish(researcher, on=REAL, confirmed="1.56", typed=typed)
        assert (answer.status_code, Job.objects.count()) == (409, 0)
    assert publish(researcher, on=REAL, confirmed="1.56", typed="draft").status_code == 302
    assert Job.objects.get().params["environment"] == "production"


def test_invalid_offers_are_refused_and_start_nothing(researcher, draft, platform):
    for change, message in (({"minutes": 1}, "greater than"), ({"expected_minutes": "30"}, "its reward of $0.65")):
        answer = publish(researcher, confirmed="1.56", **change)
        assert (answer.status_code, message in answer.text) == (422, True), message
    assert not Job.objects.exists()


def test_calls_that_fail_end_the_job_in_one_line(researcher, draft, platform, commit):
    platform.failures = [ChannelError("The title is too loud.", permanent=True)] * 9
    with commit(execute=True):
        publish(researcher, confirmed="1.56")
    job = Job.objects.get()
    assert (job.state, "The title is too loud." in job.message, "\n" in job.message) == ("failed", True, False)


def test_invitations_are_made_listed_and_revoked_on_a_page(researcher, db):
    make_round()
    page = researcher.post("/rounds/round-1/invitations/", {"count": "2"}, follow=True).text
    assert (page.count("<code>http"), page.count('class="qr"'), page.count('href="mailto:')) == (2, 2, 2)
    assert b"".join(researcher.get("/rounds/round-1/invitations.csv")).count(b"/judge/invited/") == 2
    number = Invitation.objects.first().pk
    page = researcher.post(f"/rounds/round-1/invitations/{number}/revoke/", follow=True).text
    assert page.count("<code>http") == 1
    assert researcher.post("/rounds/round-1/invitations/", {"count": "many"}).status_code == 422


def test_invitations_beyond_the_places_of_a_round_are_warned_of(researcher, db):
    made = make_round()
    Admission.objects.create(round=made, capacity=2)
    join_round(made, make_worker())
    for unused in (1, 2):
        make_invitations(made, 1, by="ada")
        page = researcher.get("/rounds/round-1/people/")
        assert (page.context["left"], page.context["unused"]) == (1, unused)
        assert ("the round is full" in page.text) is (unused > 1)


def test_a_round_by_invitation_shows_no_join_link(researcher, db):
    made = make_round()
    assert "/judge/join/" in researcher.get("/rounds/round-1/").text
    Admission.objects.create(round=made, invited=True)
    assert "/judge/join/" not in researcher.get("/rounds/round-1/").text


def test_the_browser_pool_shows_the_wage_before_publishing_and_holds_to_the_floor(researcher, draft):
    terms = researcher.get("/rounds/draft/publish/").context["terms"]
    assert (terms.minutes, terms.hourly, terms.fair) == ("5–10", "$3.90–7.80", Decimal("2.50"))
    refused = researcher.post("/rounds/draft/publish/", {"expected_minutes": "6"})
    assert (refused.status_code, "1.50" in refused.context["form"].errors["__all__"][0]) == (409, True)
    assert researcher.post("/rounds/draft/publish/", {"expected_minutes": "2.5"}).url == "/rounds/draft/"
    assert Round.objects.get(name="draft").expected_seconds == 150


def test_a_usual_wage_below_the_floor_needs_the_tick_of_an_admin(researcher, releaser, draft):
    for client, fields in ((researcher, {"below_floor": "on"}), (releaser, {})):
        refused = client.post("/rounds/draft/publish/", fields)
        assert (refused.status_code, "$2.50" in refused.context["form"].errors["__all__"][0]) == (409, True)
    assert Round.objects.get(name="draft").state == "draft"
    assert releaser.post("/rounds/draft/publish/", {"below_floor": "on"}).url == "/rounds/draft/"


def test_publishing_warns_of_words_that_the_consent_sheet_misses(researcher, draft, settings):
    settings.RESEARCHERS, settings.PAYMENT_TERMS, settings.CONTACT = "The lab", "", "lab@example.org"
    assert list(researcher.get("/rounds/draft/publish/").context["empty_words"]) == [SHEET_WORDS["payment_terms"]]


def test_publishing_warns_of_a_control_that_keeps_workers_from_most_hits(researcher, db):
    made = make_round(hits=3, published=False)
    first = made.hits.get(number=1).items.exclude(control=None).first()
    for hit in made.hits.exclude(number=1):
        hit.items.filter(place=first.place).update(image=first.image, caption=first.caption, control=first.control)
    assert "in 3 of the 3 HITs" in researcher.get("/rounds/round-1/publish/").text
