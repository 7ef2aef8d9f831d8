"""Rounds until they are published, closed or discarded: planning, publishing, closing."""

from decimal import Decimal

import pytest

from config.celery import app
from core.models import Event, Job
from corpus.models import Collection, Image
from hits.models import Round
from hits.rounds.round_parameters import RoundParameters
from tests.console.rounds.orders import ORDER
from tests.factories import make_annotator, make_assignment, make_collection, make_round, make_sample


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
    others = {"queries", "cascade", "rerank", "reasons", "pool_only", "positives", "audit_share"} | {
        "stop_recall",
        "stop_width",
    }
    assert set(order) | others == set(RoundParameters.form_fields())
    quick = make_annotator("quick")
    change = {"direction": "t2i", "rerank": "csls:k=3,rgm", "sharing": "allow", "seed": str(2**63 - 1)}
    change |= {"judge": "audit", "audit_share": "0.5"}
    researcher.post("/plan/", order | change)
    stored = Job.objects.get().params
    assert stored | change | {"seed": 2**63 - 1, "audit_share": 0.5} == stored
    text = researcher.post("/plan/", order | {"cascade": quick.name}).content.decode()
    assert "A cascade is only for annotators that score pair by pair" in text


def test_a_plan_that_takes_long_shows_its_estimate_and_command_first(researcher, order, monkeypatch):
    monkeypatch.setattr("hits.rounds.plan_estimates.MANY", 10)
    make_annotator("vilt", "vilt", checkpoint="weights.npz")
    order |= {"annotators": ["vilt"], "images": "4", "captions": "6"}
    shown = researcher.post("/plan/", order).content.decode()
    assert f"scores {4 * 16 + 6 * 8} pairs" in shown
    assert "plan_round zebra --collection zoo --images 4 --captions 6 --annotators vilt" in shown
    assert not Job.objects.exists()
    assert "/jobs/" in researcher.post("/plan/", order | {"confirmed": "yes"}).url


def test_the_answers_so_far_are_estimated_beside_every_question(researcher, order):
    page = researcher.get("/plan/", {"images": "3", "captions": "0", "top_k": "2", "step": "queries"})
    assert (page.context["estimate"].pairs, page.context["estimate"].hits) == (6, 1)
    assert "plan_round zoo-1 --collection zoo --images 3 --annotators overlap --top-k 2" in page.text


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
        ("eccv", {"task": "levels", "design": "eccv-18", "images": "8", "captions": "16", "top_k": "5"}),
        ("expert", {"task": "expert", "judge": "audit", "images": "8", "captions": "16"}),
    ],
)
def test_a_preset_answers_all_questions_and_each_can_be_changed(researcher, order, preset, chosen):
    answer = researcher.post("/plan/", {"step": "collection", "collection": "zoo", "go": preset})
    page = researcher.get(answer.url)
    form = page.context["form"]
    assert page.context["step"].name == "pay"
    assert {name: str(form[name].value()) for name in chosen} == chosen
    assert page.context["estimate"].hits <= 5 or preset != "pilot"
    assert all(one.name in address for one, address, _ in page.context["steps"])


def test_make_the_pool_first_stops_there(researcher, order):
    researcher.post("/plan/", order | {"step": "annotators", "go": "pool"})
    assert Job.objects.get().params["pool_only"]


def test_the_simplest_annotator_is_added_within_the_path(researcher, db):
    make_collection(images=8)
    assert "There is no annotator yet" in researcher.get("/plan/?step=annotators").text
    answer = researcher.post("/plan/", {"step": "annotators", "images": "4", "go": "simplest"})
    assert answer.url == "/plan/?images=4&step=annotators"
    assert researcher.get(answer.url).context["form"]["annotators"].value() == ["overlap"]


def test_a_plan_ends_in_a_draft_that_can_be_published(researcher, order, settings, django_capture_on_commit_callbacks):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    app.loader.import_default_modules()  # as a worker does
    with django_capture_on_commit_callbacks(execute=True):
        answer = researcher.post("/plan/", order | {"images": "8", "captions": "16"})
    job = Job.objects.get()
    assert job.state == "done", job.message
    assert researcher.get(answer.url).url == "/rounds/zebra/consent/"
    assert 'href="/rounds/zebra/consent/"' in researcher.get(f"/jobs/{job.pk}/").text
    assert "Publish" in researcher.get("/rounds/zebra/").content.decode()
    steps = Event.objects.filter(verb__in=("sampled", "retrieved", "pooled", "packed"))
    assert set(steps.values_list("verb", "actor")) == {
        (verb, "researcher") for verb in ("sampled", "retrieved", "pooled", "packed")
    }


BAD = [
    ({"round": "two words"}, "Use only letters, digits, - and _."),
    ({"annotators": [], "step": "annotators", "go": "make"}, "This field is required"),
    ({"images": "9"}, "Cannot draw 9 images: the gallery of zoo has 8"),
    ({"top_up": "1"}, "Use a “Votes for each pair” of at least 2"),
    ({"images": "0", "captions": "0"}, "the number of images or captions to draw"),
    ({"reward": "-1"}, "greater than or equal to 0"),
    ({"reward": "0.655"}, "no more than 2 decimal places"),
    ({"design": "huge"}, "Unknown design"),
    ({"seed": "-1"}, "Use a whole number from 0 to"),
]


def test_a_bad_plan_is_told_at_its_field_and_starts_nothing(researcher, order):
    for change, message in BAD:
        answer = researcher.post("/plan/", order | change)
        assert (answer.status_code, message in answer.text) == (422, True), message
    assert not Job.objects.exists()


def test_a_refused_plan_says_at_its_top_which_fields_are_wrong(researcher, order):
    page = researcher.post("/plan/", order | {"round": "two words", "images": "-1", "step": "pay"}).text
    summary = page[page.index('role="alert"') : page.index("</div>", page.index('role="alert"'))]
    assert 'Correct <a href="#id_round">Name of the round</a>' in summary
    assert 'step=queries">Which queries?</a>' in summary


def test_a_plan_suggests_no_more_queries_than_the_gallery_has(researcher, order):
    fields = researcher.get("/plan/").context["form"].fields
    assert (fields["images"].initial, fields["captions"].initial) == (8, 16)


def test_a_plan_says_at_once_what_an_hour_pays(researcher, order):
    assert "A HIT has to pay $2.50" in researcher.get("/plan/?reward=0.65").text
    assert "has to pay" not in researcher.get("/plan/?reward=2.50").text
    assert "Still to answer: Reward" in researcher.get("/plan/?reward=much").text


def test_the_suggested_reward_reaches_the_wage_floor(researcher, order):
    page = researcher.get("/plan/")
    assert page.context["form"]["reward"].value() == Decimal("2.50")  # 10 minutes at $15 an hour
    assert "has to pay" not in page.text


def test_annotators_that_have_to_be_trained_first_are_marked_and_refused(researcher, order):
    make_annotator("emb", "embedding")
    assert "emb (not trained yet)" in researcher.get("/plan/?step=annotators").text
    refused = researcher.post("/plan/", order | {"annotators": ["emb"]})
    assert (refused.status_code, Job.objects.count()) == (422, 0)
    assert "1 annotator is not trained yet: emb." in refused.text


def test_without_a_collection_the_path_begins_with_an_import(researcher):
    assert 'href="/import/"' in researcher.get("/plan/").text


def test_a_sample_of_another_collection_is_refused(researcher, order):
    foreign = make_sample(make_collection("other"))
    answer = researcher.post("/plan/", order | {"queries": foreign.name})
    assert "Sample queries belongs to collection other, not" in answer.content.decode()


def test_a_name_that_is_taken_is_refused(researcher, order):
    make_round(Collection.objects.get(), name="zebra")
    assert "Round zebra already exists" in researcher.post("/plan/", order).content.decode()


@pytest.fixture
def draft(db) -> Round:
    return make_round(name="draft", published=False)


def test_publishing_says_what_it_costs_and_then_opens_the_round_and_shows_its_link(researcher, draft):
    Round.objects.update(reward=3)
    assert "Publish 1 HIT for $3.00" in researcher.get("/rounds/draft/publish/").text
    assert Round.objects.get().state == "draft"
    researcher.post("/rounds/draft/publish/")
    assert Round.objects.get().state == "open"
    assert "/judge/join/join-draft/" in researcher.get("/rounds/draft/").text


def test_missing_pictures_hold_publishing_back_until_somebody_says_so(researcher, draft):
    Image.objects.update(file="")
    Round.objects.update(reward=3)
    answer = researcher.post("/rounds/draft/publish/")
    assert answer.status_code == 409
    assert "Round draft lacks" in answer.content.decode()
    researcher.post("/rounds/draft/publish/", {"skip_missing": "on"})
    assert Round.objects.get(name="draft").state == "open"


def test_closing_tells_who_is_still_at_work(researcher, db):
    made = make_round(hits=2)
    make_assignment(made.hits.first().seats.get())
    assert "1 worker is judging now" in researcher.get("/rounds/round-1/close/").content.decode()
    researcher.post("/rounds/round-1/close/")
    made.refresh_from_db()
    assert made.state == "closed"


def test_a_draft_cannot_be_closed(researcher, draft):
    answer = researcher.post("/rounds/draft/close/")
    assert answer.status_code == 409
    assert "was never published" in answer.content.decode()


def test_a_draft_is_discarded_once_that_is_confirmed(researcher, draft):
    assert 'href="/rounds/draft/discard/"' in researcher.get("/rounds/draft/").text
    assert "The draft and its HITs are removed for good" in researcher.get("/rounds/draft/discard/").text
    assert Round.objects.filter(name="draft").exists()
    assert researcher.post("/rounds/draft/discard/").url == "/pools/pool-draft/"
    assert not Round.objects.filter(name="draft").exists()
    assert researcher.get("/rounds/draft/").status_code == 404


def test_a_published_round_is_not_discarded(researcher, db):
    make_round(name="open")
    answer = researcher.post("/rounds/open/discard/")
    assert answer.status_code == 409
    assert "open cannot be removed: 1 publications" in answer.text
    assert Round.objects.filter(name="open").exists()
