"""Rounds until they are published, closed or discarded: planning, publishing, closing."""

from decimal import Decimal

import pytest

from config.celery import app
from core.models import Event, Job
from corpus.models import Image
from hits.models import Round
from hits.rounds.round_parameters import RoundParameters
from tests.console.rounds.orders import ORDER
from tests.factories import make_annotator, make_assignment, make_collection, make_round


@pytest.fixture
def order(db, settings) -> dict[str, str]:
    """A filled-in form; its job stays on the queue."""
    settings.CELERY_TASK_ALWAYS_EAGER = False
    collection, annotator = make_collection(images=8), make_annotator()
    return ORDER | {"collection": collection.name, "annotators": [annotator.name]}


def test_planning_starts_a_job_with_what_the_form_says(researcher, order):
    answer = researcher.post("/plan/", order)
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert job.params["round"] == "zebra"
    assert (job.params["images"], job.params["seed"], job.params["reward"]) == (3, 7, "0.65")
    assert job.created_by.username == "researcher"


def test_every_parameter_can_be_set_on_the_page(researcher, order):
    optional = ("queries", "cascade", "rerank", "accept_blind", "reasons", "pool_only", "positives", "audit_share")
    assert {*order, *optional, "stop_recall", "stop_width"} == set(RoundParameters.form_fields())
    change = {"direction": "t2i", "rerank": "csls:k=3,rgm", "sharing": "allow", "seed": str(2**63 - 1)}
    change |= {"judge": "audit", "audit_share": "0.5"}
    researcher.post("/plan/", order | change)
    stored = Job.objects.get().params
    assert stored | change | {"seed": 2**63 - 1, "audit_share": 0.5} == stored


def test_a_plan_that_takes_long_shows_its_estimate_first(researcher, order, monkeypatch):
    monkeypatch.setattr("hits.rounds.plan_estimates.MANY", 10)
    make_annotator("vilt", "vilt", checkpoint="weights.npz")
    order |= {"annotators": ["vilt"], "images": "4", "captions": "6"}
    shown = researcher.post("/plan/", order).context
    assert [one.pairs for one in shown["estimate"].scorings] == [4 * 16 + 6 * 8]
    assert not Job.objects.exists()
    assert "/jobs/" in researcher.post("/plan/", order | {"confirmed": "yes"}).url


def test_every_question_shows_an_estimate_by_the_answers_so_far(researcher, order):
    page = researcher.get("/plan/", {"images": "3", "captions": "0", "top_k": "2", "step": "queries"})
    assert (page.context["estimate"].pairs, page.context["estimate"].hits) == (6, 1)


def test_each_answer_is_kept_in_the_address_of_the_next_question(researcher, order):
    answer = researcher.post("/plan/", {"step": "queries", "images": "4", "captions": "2", "go": "next"})
    assert answer.url == "/plan/?images=4&captions=2&step=annotators"
    answer = researcher.post("/plan/", {"step": "annotators", "annotators": ["overlap"], "images": "4", "go": "next"})
    assert answer.url == "/plan/?images=4&step=judging"
    assert 'name="images" value="4"' in researcher.get(answer.url).text


def test_a_wrong_answer_is_asked_again_and_the_others_are_not_yet(researcher, order):
    page = researcher.post("/plan/", {"step": "annotators", "top_k": "0", "round": "two words", "go": "next"})
    assert (page.status_code, page.context["step"].name) == (422, "annotators")
    assert set(page.context["form"].errors) >= {"annotators", "top_k"}
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("preset", "chosen"),
    [
        ("pilot", {"task": "levels", "design": "eccv-18", "images": "8", "captions": "8", "top_k": "5"}),
        ("eccv", {"task": "levels", "images": "8", "captions": "16", "top_k": "5"}),
    ],
)
def test_a_preset_answers_all_questions_and_each_can_be_changed(researcher, order, preset, chosen):
    answer = researcher.post("/plan/", {"step": "collection", "collection": "zoo", "go": preset})
    page = researcher.get(answer.url)
    form = page.context["form"]
    assert page.context["step"].name == "pay"
    assert {name: str(form[name].value()) for name in chosen} == chosen
    assert page.context["estimate"].hits <= 5 or preset != "pilot"
    assert all(one.name in address for one, address in page.context["steps"])


def test_the_simplest_annotator_is_added_within_the_path(researcher, db):
    make_collection(images=8)
    assert 'value="simplest"' in researcher.get("/plan/?step=annotators").text
    answer = researcher.post("/plan/", {"step": "annotators", "images": "4", "go": "simplest"})
    assert answer.url == "/plan/?images=4&step=judging"
    assert researcher.get(answer.url).context["form"]["annotators"].value() == ["overlap"]


def test_a_preset_without_annotators_adds_word_overlap(researcher, db):
    make_collection(images=8)
    answer = researcher.post("/plan/", {"step": "collection", "collection": "zoo", "go": "pilot"})
    assert "step=pay" in answer.url
    assert researcher.get(answer.url).context["estimate"].hits == 5


def test_a_plan_ends_in_a_draft_that_can_be_published(researcher, order, settings, commit):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    app.loader.import_default_modules()  # as a worker does
    with commit(execute=True):
        answer = researcher.post("/plan/", order | {"images": "8", "captions": "16"})
    job = Job.objects.get()
    assert job.state == "done", job.message
    assert researcher.get(answer.url).url == "/rounds/zebra/"
    assert 'href="/rounds/zebra/publish/"' in researcher.get("/rounds/zebra/").text
    verbs = ("sampled", "retrieved", "pooled", "packed")
    steps = Event.objects.filter(verb__in=verbs).values_list("verb", "actor")
    assert set(steps) == {(verb, "researcher") for verb in verbs}


def test_a_refused_plan_says_at_its_top_which_fields_are_wrong(researcher, order):
    page = researcher.post("/plan/", order | {"round": "two words", "images": "-1", "step": "pay"})
    summary = page.text.partition('role="alert"')[2].partition("</div>")[0]
    assert ('href="#id_round"' in summary, "step=queries" in summary) == (True, True)


def test_a_plan_suggests_no_more_queries_than_the_gallery_has(researcher, order):
    fields = researcher.get("/plan/").context["form"].fields
    assert (fields["images"].initial, fields["captions"].initial) == (8, 16)


def test_a_plan_shows_the_wage_and_suggests_a_reward_that_reaches_the_floor(researcher, order):
    assert researcher.get("/plan/?reward=0.65").context["terms"].fair == Decimal("2.50")  # 10 minutes at $15 an hour
    page = researcher.get("/plan/")
    assert page.context["form"]["reward"].value() == page.context["terms"].fair == Decimal("2.50")
    assert researcher.get("/plan/?reward=much").context["unanswered"] == ["Reward"]


JUDGING = {"step": "judging", "images": "8", "captions": "8", "top_k": "5"}


def test_the_plan_offers_each_design_with_its_effect_and_cost(researcher, order):
    offered = {one["judge"]: one for one in researcher.get("/plan/", JUDGING).context["offered"]}
    assert offered["audit"]["effect"].endswith("Scores are estimated within ±0.55 or better.")
    assert offered["all"]["estimate"].cost > offered["audit"]["estimate"].cost


def test_a_design_that_the_other_answers_do_not_allow_has_no_cost(researcher, order):
    offered = researcher.get("/plan/", JUDGING | {"reward": "much"}).context["offered"]
    assert offered
    assert not any("estimate" in one for one in offered)


def test_annotators_that_have_to_be_trained_first_are_marked_and_refused(researcher, order):
    make_annotator("emb", "embedding")
    assert "emb (not trained yet)" in researcher.get("/plan/?step=annotators").text
    refused = researcher.post("/plan/", order | {"annotators": ["emb"]})
    assert (refused.status_code, Job.objects.count()) == (422, 0)


def test_publishing_shows_the_cost_and_then_opens_the_round_with_its_link(researcher, draft):
    Round.objects.update(reward=3)
    assert researcher.get("/rounds/draft/publish/").context["quote"].total == 3
    assert Round.objects.get().state == "draft"
    researcher.post("/rounds/draft/publish/")
    assert Round.objects.get().state == "open"
    assert "/judge/join/join-draft/" in researcher.get("/rounds/draft/").text


def test_missing_pictures_hold_publishing_back_until_they_are_skipped(researcher, draft):
    Image.objects.update(file="")
    Round.objects.update(reward=3)
    assert researcher.post("/rounds/draft/publish/").status_code == 409
    researcher.post("/rounds/draft/publish/", {"skip_missing": "on"})
    assert Round.objects.get(name="draft").state == "open"


def test_closing_shows_how_many_workers_are_judging(researcher, db):
    made = make_round(hits=2)
    make_assignment(made.hits.first().seats.get())
    assert "1 worker is judging now" in researcher.get("/rounds/round-1/close/").text
    researcher.post("/rounds/round-1/close/")
    made.refresh_from_db()
    assert made.state == "closed"


def test_a_draft_is_discarded_once_that_is_confirmed_and_a_published_round_never(researcher, draft):
    assert 'href="/rounds/draft/discard/"' in researcher.get("/rounds/draft/").text
    assert researcher.get("/rounds/draft/discard/").status_code == 200
    assert researcher.post("/rounds/draft/close/").status_code == 409  # nor closed
    Round.objects.update(published_at="2026-01-01T00:00Z", channel="browser")
    assert researcher.post("/rounds/draft/discard/").status_code == 409
    Round.objects.update(published_at=None, channel="")
    assert researcher.post("/rounds/draft/discard/").url == "/pools/pool-draft/"
    assert not Round.objects.exists()
