"""Publishing on a platform from the pages: what is shown, what is asked, and that one press posts once."""

from decimal import Decimal

import pytest
from django.urls import reverse

from annotation.models import Admission, Invitation
from annotation.people.admission import join_round
from annotation.people.invitations import make_invitations
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
    return make_round(hits=2, name="draft", published=False)


def publish(client, on=EMULATED, **fields):
    return client.post(reverse("round_publish", args=["draft"]), FILLED_IN | {"on": on} | fields)


def form_page(client, on=EMULATED):
    return client.get(reverse("round_publish", args=["draft"]), {"on": on})


def test_only_what_the_settings_allow_is_offered(researcher, draft, settings):
    offered = [one.key for one in form_page(researcher, "browser").context["environments"]]
    assert offered == ["browser", EMULATED, "prolific:emulator"]
    assert form_page(researcher, REAL).status_code == 404


def test_a_market_that_is_none_is_not_found(researcher, draft):
    assert publish(researcher, on="nowhere:at-all").status_code == 404


def test_the_form_shows_the_cost_with_the_fee_and_what_the_account_holds(researcher, draft, platform):
    page = form_page(researcher).text
    assert "2 seats at $0.65" in page
    assert "$0.13 each" in page
    assert "<strong>$1.56</strong>" in page
    assert "holds $10,000.00" in page


def test_a_platform_that_cannot_be_reached_is_told_on_the_form(researcher, draft, platform, monkeypatch):
    def out_of_reach(environment):
        raise ChannelError("The line is cut.")

    monkeypatch.setattr(platform, "funds", out_of_reach)
    assert "The balance could not be read: The line is cut." in form_page(researcher).text
    answer = publish(researcher)
    assert (answer.status_code, "Nothing was published. The line is cut." in answer.text) == (422, True)


def test_the_last_look_shows_what_is_posted_and_posts_nothing(researcher, draft, platform):
    answer = publish(researcher, expected_minutes="2")
    assert answer.status_code == 200
    for told in ("2 postings like this", "Look and say.", "30 minutes", "in US, GB", "$19.50 an hour", "$1.56"):
        assert told in answer.text
    assert "Type the round" not in answer.text
    assert (Job.objects.count(), Round.objects.get().state) == (0, "draft")


def test_top_workers_cost_what_the_channel_says(researcher, draft, rehearsal):
    answer = publish(researcher, top_workers="on")
    assert (answer.context["quote"].fee, answer.context["quote"].total) == (Decimal("0.16"), Decimal("1.62"))


def test_a_confirmed_round_is_posted_by_a_job(researcher, draft, rehearsal, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        answer = publish(researcher, confirmed="1.56", expected_minutes="2")
    job, made = Job.objects.get(), Round.objects.get()
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert (job.state, job.message) == ("done", "Round draft is open: 2 of 2 HITs are posted on MTurk, emulator.")
    assert (made.environment, made.offer["countries"], made.expected_seconds) == ("emulator", ["US", "GB"], 120)
    assert len(rehearsal.world.call("ListHITs", {})["HITs"]) == 2
    assert Event.objects.get(verb="published").actor == "researcher"


def test_pressed_twice_it_is_one_job(researcher, draft, platform):
    first, second = (publish(researcher, confirmed="1.56") for _ in range(2))
    assert (first.url, Job.objects.count()) == (second.url, 1)


def test_pressed_again_once_it_is_open_nothing_more_happens(
    researcher, draft, platform, django_capture_on_commit_callbacks
):
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            answer = publish(researcher, confirmed="1.56")
    assert (answer.url, Job.objects.count(), Posting.objects.count()) == ("/rounds/draft/", 1, 2)


def test_a_round_that_costs_more_when_its_job_runs_than_was_confirmed_is_not_published(researcher, draft, platform):
    publish(researcher, confirmed="1.56")
    Round.objects.update(reward="0.90")
    job = Job.objects.get()
    publish_job(str(job.pk))
    job.refresh_from_db()
    assert "costs $2.16, more than the $1.56 agreed. Nothing was published" in job.message
    assert Round.objects.get().state == "draft"


def test_a_cost_that_nobody_has_seen_is_not_taken_for_confirmed(researcher, draft, platform):
    answer = publish(researcher, confirmed="0.01")
    assert (answer.status_code, Job.objects.count()) == (409, 0)
    assert "The cost has changed since it was shown." in answer.text


def test_real_money_needs_the_rounds_name_and_is_spent_once_it_is_typed(researcher, draft, platform):
    assert "real money" in publish(researcher, on=REAL).text
    for typed in ("", "Draft", "yes"):
        answer = publish(researcher, on=REAL, confirmed="1.56", typed=typed)
        assert (answer.status_code, Job.objects.count()) == (409, 0)
        assert "Type the round’s name" in answer.text
    assert publish(researcher, on=REAL, confirmed="1.56", typed="draft").status_code == 302
    assert Job.objects.get().params["environment"] == "production"


def test_one_may_go_back_and_change_something(researcher, draft, platform):
    answer = publish(researcher, confirmed="1.56", change="yes")
    assert (answer.status_code, Job.objects.count()) == (200, 0)
    assert 'value="us, gb"' in answer.text or 'value="US,GB"' in answer.text


BAD = [
    ({"minutes": 1}, "greater than or equal to 5"),
    ({"title": ""}, "This field is required"),
    ({"title": "x" * 129}, "at most 128 characters"),
    ({"countries": "Narnia"}, "1 invalid countries: NARNIA"),
    ({"expected_minutes": "0"}, "Invalid number of expected minutes 0"),
    ({"expected_minutes": "30"}, "more than its reward of $0.65"),
    ({"pilot": "nothing"}, "Select a valid choice"),
]


def test_what_no_platform_takes_is_told_and_starts_nothing(researcher, draft, platform):
    for change, told in BAD:
        answer = publish(researcher, confirmed="1.56", **change)
        assert (answer.status_code, told in answer.text) == (422, True), told
    assert not Job.objects.exists()


def test_calls_that_fail_end_the_job_in_one_line(researcher, draft, platform, django_capture_on_commit_callbacks):
    platform.failures = [ChannelError("The title is too loud.", permanent=True)] * 9
    with django_capture_on_commit_callbacks(execute=True):
        publish(researcher, confirmed="1.56")
    job = Job.objects.get()
    assert job.state == "failed"
    assert "0 of 2 HITs are posted on Fake, emulator. 2 calls failed" in job.message
    assert "The title is too loud." in job.message


def test_calls_that_only_wait_are_told_and_go_out_later(
    researcher, draft, platform, django_capture_on_commit_callbacks
):
    platform.failures = [ChannelError("Rate exceeded.", reached=False)]
    with django_capture_on_commit_callbacks(execute=True):
        publish(researcher, confirmed="1.56")
    job = Job.objects.get()
    assert job.state == "done"
    assert "1 of 2 HITs are posted on Fake, emulator. 1 call waiting" in job.message


def test_missing_pictures_are_told_and_borne_with_only_where_that_is_said(researcher, db, platform):
    make_round(name="draft", published=False)
    draft = Round.objects.get()
    draft.pool.collection.images.update(file="")
    answer = publish(researcher)
    assert (answer.status_code, "Round draft lacks" in answer.text) == (422, True)
    assert "are missing; their pairs are shown without a picture" in publish(researcher, skip_missing="on").text


def test_a_published_round_leads_to_its_page(researcher, db):
    make_round(name="open")
    assert researcher.get("/rounds/open/publish/").url == "/rounds/open/"


def test_invitations_are_made_listed_and_revoked_on_a_page(researcher, db):
    make_round()
    page = researcher.post("/rounds/round-1/invitations/", {"count": "2"}, follow=True).text
    assert page.count("/judge/invited/") == 2
    number = Invitation.objects.first().pk
    page = researcher.post(f"/rounds/round-1/invitations/{number}/revoke/", follow=True).text
    assert (page.count("/judge/invited/"), f"Invitation {number} is void" in page) == (1, True)
    refused = researcher.post("/rounds/round-1/invitations/", {"count": "many"})
    assert (refused.status_code, "use 1 to 1,000" in refused.text) == (422, True)


def test_invitations_beyond_the_places_of_a_round_are_warned_of(researcher, db):
    made = make_round()
    Admission.objects.create(round=made, capacity=2)
    join_round(made, make_worker())
    make_invitations(made, 1, by="ada")
    page = researcher.get("/rounds/round-1/invitations/").text
    assert ("1 of 2 places left, 1 invitation unused." in page, "the round is full" in page) == (True, False)
    page = researcher.post("/rounds/round-1/invitations/", {"count": "1"}, follow=True).text
    assert "1 of 2 places left, 2 invitations unused. Whoever comes when no place is left is told" in page


def test_a_round_by_invitation_shows_no_join_link(researcher, db):
    made = make_round()
    assert "/judge/join/" in researcher.get("/rounds/round-1/").text
    Admission.objects.create(round=made, invited=True)
    page = researcher.get("/rounds/round-1/").text
    assert ("/judge/join/" in page, "Nobody joins without an invitation" in page) == (False, True)


def test_the_browser_pool_tells_the_wage_before_publishing_and_holds_to_the_floor(researcher, draft):
    page = "/rounds/draft/publish/"
    shown = researcher.get(page).content.decode()
    assert "5–10 minutes a HIT, $3.90–7.80 an hour" in shown
    assert "the reward is below the floor; $2.50 would reach it" in shown
    refused = researcher.post(page, {"expected_minutes": "6"})
    assert refused.status_code == 409
    assert "Pack it again with --reward 1.50" in refused.content.decode()
    assert researcher.post(page, {"expected_minutes": "2.5"}).url == "/rounds/draft/"
    assert Round.objects.get(name="draft").expected_seconds == 150


def test_a_usual_wage_below_the_floor_needs_the_tick_of_an_admin(researcher, releaser, draft):
    assert "An admin can publish at this reward" in researcher.get("/rounds/draft/publish/").text
    refused = researcher.post("/rounds/draft/publish/", {"below_floor": "on"})
    assert refused.status_code == 409
    assert "usually takes up to 10 min; at the wage floor of $15.00 an hour that is $2.50" in refused.text
    assert Round.objects.get(name="draft").state == "draft"
    assert releaser.post("/rounds/draft/publish/").status_code == 409
    assert releaser.post("/rounds/draft/publish/", {"below_floor": "on"}).url == "/rounds/draft/"


def test_a_usual_wage_above_the_floor_needs_no_tick(researcher, draft):
    Round.objects.filter(name="draft").update(reward=3)
    assert "below_floor" not in researcher.get("/rounds/draft/publish/").text
    assert researcher.post("/rounds/draft/publish/").url == "/rounds/draft/"


def test_publishing_warns_of_what_workers_are_not_told(researcher, draft, settings):
    settings.RESEARCHERS, settings.PAYMENT_TERMS, settings.CONTACT = "The lab", "", "lab@example.org"
    page = researcher.get("/rounds/draft/publish/").text
    assert "Workers are not told how and when they are paid" in page
    assert "Workers are not told who asks" not in page


def test_publishing_warns_of_a_control_that_keeps_workers_from_most_hits(researcher, db):
    made = make_round(hits=3, published=False)
    page = "/rounds/round-1/publish/"
    assert "One control is in" not in researcher.get(page).text
    first = made.hits.get(number=1).items.exclude(control=None).first()
    for hit in made.hits.exclude(number=1):
        hit.items.filter(place=first.place).update(image=first.image, caption=first.caption, control=first.control)
    assert "One control is in 3 of the 3 HITs" in researcher.get(page).text
