from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from annotation.decisions import decide
from annotation.disputes import top_up
from annotation.leases import lease_seat
from annotation.models import Worker
from config.celery import app
from console.needs import needs_of_all_rounds
from core.models import Event, Job
from core.progress import silent
from corpus.models import Collection, Image
from crowd.publication import close_round
from dataset.verdicts import aggregate_round
from evaluation.analyses.agreement_analysis import analyse
from hits.models import Round
from hits.round_parameters import RoundParameters
from tests.annotation.disagreeing import make_topped_up, vote
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_annotator, make_assignment, make_collection, make_round, make_sample, make_worker

ORDER = {
    "round": "zebra",
    "images": "3",
    "captions": "0",
    "top_k": "2",
    "control_depth": "2",
    "task": "levels",
    "design": "eccv-18",
    "replication": "1",
    "top_up": "0",
    "reward": "0.65",
    "ceiling": "50",
    "seed": "7",
    "direction": "both",
    "engine": "blocked",
    "cascade_depth": "100",
    "sharing": "avoid",
}


@pytest.fixture
def order(db, settings) -> dict[str, str]:
    """A filled-in form; its job stays on the queue."""
    settings.CELERY_TASK_ALWAYS_EAGER = False
    collection, annotator = make_collection(images=8), make_annotator()
    return ORDER | {"collection": collection.name, "annotators": [annotator.name]}


def test_planning_starts_a_job_with_what_the_form_says(researcher, order):
    answer = researcher.post("/plan/", order)
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/"
    assert job.params["round"] == "zebra"
    assert (job.params["images"], job.params["seed"], job.params["reward"]) == (3, 7, "0.65")
    assert job.created_by.username == "researcher"


def test_every_parameter_can_be_set_on_the_page(researcher, order):
    assert set(order) | {"queries", "cascade", "rerank", "reasons", "pool_only", "positives"} == set(
        RoundParameters.form_fields()
    )
    quick = make_annotator("quick")
    change = {"direction": "t2i", "rerank": "csls:k=3,rgm", "sharing": "allow", "seed": str(2**63 - 1)}
    researcher.post("/plan/", order | change)
    assert Job.objects.get().params | change | {"seed": 2**63 - 1} == Job.objects.get().params
    text = researcher.post("/plan/", order | {"cascade": quick.name}).content.decode()
    assert "A cascade is only for annotators that score pair by pair" in text


def test_a_plan_that_takes_long_shows_its_estimate_and_command_first(researcher, order, monkeypatch):
    monkeypatch.setattr("hits.plan_estimates.MANY", 10)
    make_annotator("vilt", "vilt", checkpoint="weights.npz")
    order |= {"annotators": ["vilt"], "images": "4", "captions": "6"}
    shown = researcher.post("/plan/", order).content.decode()
    assert f"scores {4 * 16 + 6 * 8} pairs" in shown
    assert "plan_round zebra --collection zoo --annotators vilt --images 4 --captions 6" in shown
    assert not Job.objects.exists()
    assert "/jobs/" in researcher.post("/plan/", order | {"confirmed": "yes"}).url


def test_any_plan_can_be_estimated(researcher, order):
    assert "at most" in researcher.post("/plan/", order | {"estimate": "yes"}).content.decode()
    assert not Job.objects.exists()


def test_a_plan_ends_in_a_draft_that_can_be_published(researcher, order, settings, django_capture_on_commit_callbacks):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    app.loader.import_default_modules()  # as a worker does
    with django_capture_on_commit_callbacks(execute=True):
        answer = researcher.post("/plan/", order | {"images": "8", "captions": "16"})
    job = Job.objects.get()
    assert job.state == "done", job.message
    assert 'href="/rounds/zebra/"' in researcher.get(answer.url).content.decode()
    assert "Publish" in researcher.get("/rounds/zebra/").content.decode()
    steps = Event.objects.filter(verb__in=("sampled", "retrieved", "pooled", "packed"))
    assert set(steps.values_list("verb", "actor")) == {
        (verb, "researcher") for verb in ("sampled", "retrieved", "pooled", "packed")
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"round": "two words"}, "Use only letters, digits, - and _."),
        ({"annotators": []}, "This field is required"),
        ({"images": "9"}, "Cannot draw 9 images: the gallery of zoo has 8"),
        ({"task": "checkbox", "design": "", "top_up": "1"}, "Leave “Top-up” out, or use a greater “Replication”"),
        ({"images": "0", "captions": "0"}, "the number of images or captions to draw"),
        ({"reward": "-1"}, "greater than or equal to 0"),
        ({"reward": "0.655"}, "no more than 2 decimal places"),
        ({"design": "huge"}, "There is no design"),
        ({"seed": "-1"}, "greater than or equal to 0"),
    ],
)
def test_a_bad_plan_is_told_at_its_field_and_starts_nothing(researcher, order, change, message):
    answer = researcher.post("/plan/", order | change)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Job.objects.exists()


def test_a_refused_plan_says_at_its_top_which_fields_are_wrong(researcher, order):
    page = researcher.post("/plan/", order | {"round": "two words", "annotators": []}).text
    summary = page[page.index('role="alert"') : page.index("</div>", page.index('role="alert"'))]
    assert 'Correct <a href="#id_round">Name</a>' in summary
    assert 'Correct <a href="#id_annotators">Annotators</a>' in summary


def test_a_plan_suggests_no_more_queries_than_the_gallery_has(researcher, order):
    fields = researcher.get("/plan/").context["form"].fields
    assert (fields["images"].initial, fields["captions"].initial) == (8, 16)


def test_a_plan_says_at_once_what_an_hour_pays(researcher, order):
    assert "$2.50 would reach it" in researcher.get("/plan/?reward=0.65").text
    assert "would reach it" not in researcher.get("/plan/?reward=2.50").text
    assert "$2.50 would reach it" in researcher.get("/plan/?reward=much").text


def test_the_suggested_reward_reaches_the_wage_floor(researcher, order):
    page = researcher.get("/plan/")
    assert page.context["form"]["reward"].value() == Decimal("2.50")  # 10 minutes at $15 an hour
    assert "would reach it" not in page.text


def test_annotators_that_have_to_be_trained_first_are_marked_and_refused(researcher, order):
    make_annotator("emb", "embedding")
    assert "emb (not trained yet)" in researcher.get("/plan/").text
    refused = researcher.post("/plan/", order | {"annotators": ["emb"]})
    assert (refused.status_code, Job.objects.count()) == (422, 0)
    assert "1 annotator is not trained yet: emb." in refused.text


def test_without_a_collection_or_an_annotator_the_form_says_how_to_get_them(researcher):
    text = researcher.get("/plan/").content.decode()
    assert "python manage.py demo_collection demo" in text
    assert "python manage.py add_annotator overlap" in text


def test_a_sample_of_another_collection_is_refused(researcher, order):
    foreign = make_sample(make_collection("other"))
    answer = researcher.post("/plan/", order | {"queries": foreign.name})
    assert "Sample queries belongs to collection other, not" in answer.content.decode()


def test_a_name_that_is_taken_is_refused(researcher, order):
    make_round(Collection.objects.get(), name="zebra")
    assert "Round zebra already exists" in researcher.post("/plan/", order).content.decode()


def test_publishing_says_what_it_costs_before_it_is_done(researcher, site):
    text = researcher.get("/rounds/draft/publish/").content.decode()
    assert "Publish 1 HIT for $0.65" in text
    assert Round.objects.get(name="draft").state == "draft"


def test_publishing_opens_the_round_and_shows_its_link(researcher, site):
    researcher.post("/rounds/draft/publish/", {"below_floor": "on"})
    assert Round.objects.get(name="draft").state == "open"
    assert "/judge/join/join-draft/" in researcher.get("/rounds/draft/").content.decode()


def test_missing_pictures_hold_publishing_back_until_somebody_says_so(researcher, site):
    Image.objects.update(file="")
    answer = researcher.post("/rounds/draft/publish/", {"below_floor": "on"})
    assert answer.status_code == 409
    assert "Round draft lacks" in answer.content.decode()
    researcher.post("/rounds/draft/publish/", {"skip_missing": "on", "below_floor": "on"})
    assert Round.objects.get(name="draft").state == "open"


def test_closing_tells_who_is_still_at_work(researcher, db):
    made = make_round(hits=2)
    make_assignment(made.hits.first().seats.get())
    assert "1 worker is judging now" in researcher.get("/rounds/round-1/close/").content.decode()
    researcher.post("/rounds/round-1/close/")
    made.refresh_from_db()
    assert made.state == "closed"


def test_a_draft_cannot_be_closed(researcher, site):
    answer = researcher.post("/rounds/draft/close/")
    assert answer.status_code == 409
    assert "was never published" in answer.content.decode()


def test_a_draft_is_discarded_once_that_is_confirmed(researcher, site):
    assert 'href="/rounds/draft/discard/"' in researcher.get("/rounds/draft/").text
    assert "The draft and its HITs are removed for good" in researcher.get("/rounds/draft/discard/").text
    assert Round.objects.filter(name="draft").exists()
    assert researcher.post("/rounds/draft/discard/").url == "/pools/pool-draft/"
    assert not Round.objects.filter(name="draft").exists()
    assert researcher.get("/rounds/draft/").status_code == 404


def test_a_published_round_is_not_discarded(researcher, site):
    answer = researcher.post("/rounds/open/discard/")
    assert answer.status_code == 409
    assert "open cannot be removed: 1 publications" in answer.text
    assert Round.objects.filter(name="open").exists()


def test_a_round_shows_how_it_goes(member, db):
    made = make_round(hits=2)
    answer_rightly(made)
    context = member.get("/rounds/round-1/").context
    assert context["standing"].filled == 1
    assert context["quality"].timing.active == 300
    assert context["quality"].dollars_an_hour == Decimal("7.8")
    assert context["quality"].levels == {1: 2, 2: 0, 3: 0, 4: 0}


def test_wrong_controls_lower_the_share_and_ask_for_a_person(reviewer, db):
    answer_wrongly(make_round())
    answer = reviewer.get("/rounds/round-1/")
    controls = answer.context["quality"].controls
    assert (controls.answered, controls.right, controls.share) == (2, 1, 0.5)
    assert "1 flagged assignment" in answer.content.decode()


def test_flagged_answers_enter_neither_the_levels_nor_the_time(member, db):
    answer_wrongly(make_round())
    context = member.get("/rounds/round-1/").context
    assert (context["quality"].timing, context["workers"][0].seconds) == (None, None)
    assert sum(context["quality"].levels.values()) == 0
    assert context["levels"] == []


def test_a_worker_is_shown_by_pseudonym_with_their_record(member, db):
    assignment = answer_wrongly(make_round())
    (line,) = member.get("/rounds/round-1/").context["workers"]
    assert line.pseudonym == assignment.worker.pseudonym
    assert (line.submitted, line.accepted, line.flagged) == (1, 0, 1)


@pytest.mark.parametrize(("sort", "first"), [("flagged", "wrong"), ("accepted", "right"), ("quality", "wrong")])
def test_workers_are_sorted_as_the_address_says(member, db, sort, first):
    made = make_round(hits=2)
    workers = {"wrong": answer_wrongly(made).worker, "right": answer_rightly(made).worker}
    page = member.get("/rounds/round-1/", {"sort": sort})
    assert page.context["workers"][0].pseudonym == workers[first].pseudonym
    assert page.text.count("aria-sort") == 1


def test_an_unknown_order_of_workers_is_the_usual_one(member, db):
    answer_rightly(make_round())
    assert member.get("/rounds/round-1/", {"sort": "nonsense"}).context["sort"] == "submitted"


def test_the_quality_of_a_worker_grows_with_controls_answered_right(member, db):
    answer_rightly(make_round())
    (line,) = member.get("/rounds/round-1/").context["workers"]
    assert line.controls.weight == 0.5  # 2 of 2: 2 · 3/4 − 1
    assert '<td class="n">50%</td>' in member.get("/rounds/round-1/").text


def test_counting_the_votes_makes_verdicts(researcher, db):
    made = make_round()
    answer_rightly(made)
    researcher.post("/rounds/round-1/aggregate/")
    assert made.aggregations.get().verdicts.count() == 2


def test_a_round_that_a_version_counted_leads_to_its_verdicts(member, site):
    site.version.rounds.get().aggregations.all().delete()
    there = '<a href="/versions/v1/pairs/">'
    assert (
        f"none counted yet; a release counts the votes itself: {there}pairs of v1</a></dd>"
        in member.get("/rounds/done/").text
    )
    assert (
        f"A release counts the votes itself: see the pairs of {there}v1</a>." in member.get("/rounds/done/pairs/").text
    )
    assert "No votes have been counted" not in member.get("/versions/v1/pairs/").text


def test_a_round_shows_how_its_verdicts_were_made(researcher, db):
    made = make_round()
    answer_rightly(made)
    assert "<dt>Verdicts</dt><dd>none counted yet</dd>" in researcher.get("/rounds/round-1/").content.decode()
    aggregate_round(made, method="ordinal", ties="lower")
    assert "<dt>Verdicts</dt><dd>2 by ordinal, ties: lower</dd>" in researcher.get("/rounds/round-1/").content.decode()


def test_counting_no_votes_is_told(researcher, db):
    make_round()
    answer = researcher.post("/rounds/round-1/aggregate/", follow=True)
    assert "has no judgments that count" in answer.content.decode()


def test_hits_are_narrowed_by_the_state_of_their_seats(member, db):
    made = make_round(hits=3)
    make_assignment(made.hits.get(number=2).seats.get())
    rows = member.get("/rounds/round-1/hits/?state=taken").context["rows"]
    assert [row.number for row in rows] == [2]


def test_a_hits_page_shows_staff_the_roles_of_its_pairs(member, db):
    make_round()
    text = member.get("/rounds/round-1/hits/1/").content.decode()
    assert "positive control" in text
    assert "negative control" in text
    assert text.count("candidate</span>") == 2


def test_the_cost_in_all_is_never_below_the_cost_so_far(member, person):
    made = make_round(hits=2, reward="0.65")
    excluded = answer_wrongly(made)
    decide(excluded, votes_count=False, paid=True, reason="careless", by=person)
    answer_rightly(made), answer_rightly(made)
    assert member.get("/rounds/round-1/").text.count("$1.95") == 2  # so far, and owed
    close_round(made, actor="robin")
    assert "<dt>Cost in all</dt><dd>$1.95" in member.get("/rounds/round-1/").text


def test_a_complete_round_that_is_still_open_needs_somebody_to_close_it(researcher, db):
    made = make_round()
    assert needs_of_all_rounds(User(is_superuser=True)) == []
    answer_rightly(made)
    assert [need.text for need in needs_of_all_rounds(User(is_superuser=True))] == [
        "round-1 is complete and still open. Close it"
    ]
    assert 'href="/rounds/round-1/close/">Close it' in researcher.get("/rounds/round-1/").content.decode()
    close_round(made, actor="robin")
    assert needs_of_all_rounds(User(is_superuser=True)) == []


def test_the_live_part_tells_what_the_page_tells_and_is_never_kept_in_a_cache(releaser, db):
    made = make_round(hits=2)
    assert "0 of 2" in releaser.get("/rounds/round-1/").text
    answer_rightly(made), answer_wrongly(made)
    answer = releaser.get("/rounds/round-1/live/")
    told = answer.json()
    assert "no-store" in answer["Cache-Control"]
    assert told["live"] is True
    assert "<strong>1 of 2</strong>" in told["html"]
    assert "1 flagged assignment in round-1" in told["html"]
    assert told["html"] in releaser.get("/rounds/round-1/").text


def test_who_joined_and_has_not_worked_is_counted_among_the_workers(member, db):
    made = make_round()
    made.participants.create(worker=make_worker())
    told = "<dt>workers, of 1 who joined</dt><dd>0</dd>"
    assert told in member.get("/rounds/round-1/live/").json()["html"]


def test_the_live_table_of_workers_is_that_of_the_page_in_its_order(member, db):
    made = make_round(hits=2)
    assert "No answers yet" in member.get("/rounds/round-1/workers/").json()["html"]
    answer_rightly(made), answer_wrongly(made)
    page = member.get("/rounds/round-1/?sort=quality").text
    assert 'data-live="/rounds/round-1/workers/?sort=quality"' in page
    told = member.get("/rounds/round-1/workers/?sort=quality").json()
    assert told["live"] is True
    assert told["html"] in page


def test_the_live_part_of_a_closed_round_is_not_asked_for_again(member, db):
    made = make_round()
    assert 'data-live="/rounds/round-1/live/"' in member.get("/rounds/round-1/").text
    close_round(made, actor="robin")
    assert member.get("/rounds/round-1/live/").json()["live"] is False
    assert "data-live" not in member.get("/rounds/round-1/").text


@pytest.mark.parametrize(("who", "told"), [("researcher", True), ("reviewer", False)])
def test_only_researchers_are_offered_to_close_a_complete_round(request, db, who, told):
    answer_rightly(make_round())
    html = request.getfixturevalue(who).get("/rounds/round-1/live/").json()["html"]
    assert ("the round is still open" in html) is told
    assert ("/rounds/round-1/close/" in html) is told


def test_the_cost_so_far_and_to_come_are_told_apart(member, db):
    made = make_round(hits=3, reward="0.65")
    answer_rightly(made)
    text = member.get("/rounds/round-1/live/").json()["html"]
    assert "<dt>cost so far</dt><dd>$0.65</dd>" in text
    assert "<dd>$1.30</dd>" in text


def test_the_agreement_of_a_round_is_that_of_the_analysis(member):
    made = make_topped_up()
    vote(made.hits.get(), 1, 4), vote(made.hits.get(), 2, 4)
    found = analyse(
        progress=silent, round="round-1", version=None, others="workers", confidence=0.95, samples=10, seed=0
    ).rows
    (alpha,) = [row["value"] for row in found if row["measure"] == "alpha, ordinal"]
    assert member.get("/rounds/round-1/").context["quality"].alpha == pytest.approx(alpha)


def test_one_vote_a_pair_has_no_agreement(member, db):
    answer_rightly(make_round())
    assert member.get("/rounds/round-1/").context["quality"].alpha is None


def test_a_round_says_how_to_rehearse_and_to_pause(researcher, db):
    made = make_round(hits=2, reward="0.65")
    assert "python manage.py simulate round-1 --workers 50" in researcher.get("/rounds/round-1/").text
    answer_rightly(made)
    text = researcher.get("/rounds/round-1/").text
    assert "python manage.py set_ceiling round-1 0.65" in text
    call_command("set_ceiling", "round-1", "0.65")
    assert lease_seat(Round.objects.get(), worker=make_worker()) is None


def test_a_round_its_assignments_and_workers_say_that_their_answers_are_simulated(member, site):
    work = site.flagged
    pages = ["/rounds/done/", f"/review/{work.pk}/", f"/workers/{work.worker.pseudonym}/", "/review/"]
    assert not any("simulated" in member.get(page).content.decode() for page in pages)
    Worker.objects.update(simulated=True)
    assert all("simulated" in member.get(page).content.decode() for page in pages)
    assert "runs only with <code>--among-people</code>" in member.get("/rounds/done/").content.decode()


def test_a_round_tells_how_many_pairs_are_unfinished_and_what_was_added(member):
    made = make_topped_up()
    assert "2 pairs unfinished" in member.get("/rounds/round-1/").content.decode()
    for level in (1, 4):
        vote(made.hits.get(), level)
    top_up(made, actor="robin")
    text = member.get("/rounds/round-1/").content.decode()
    assert "at most 1 on a pair on which workers disagree; 1 HIT added so far" in text
    assert "2 pairs unfinished" in text


def test_idle_leases_are_ended_once_that_is_confirmed(researcher, db):
    made = make_round(hits=2)
    lease = lease_seat(made, worker=make_worker())
    assert "end idle leases" in researcher.get("/rounds/round-1/").text
    assert "1 HIT is held by workers who never submitted" in researcher.get("/rounds/round-1/idle/").text
    lease.refresh_from_db()
    assert lease.state == "leased"
    assert "1 lease ended" in researcher.post("/rounds/round-1/idle/", follow=True).text
    lease.refresh_from_db()
    assert lease.state == "expired"
    assert Event.objects.get(verb="ended idle leases").actor == "researcher"
