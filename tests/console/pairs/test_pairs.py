import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.judging.links import worker_token
from annotation.models import Assignment, Report
from dataset.models import Case, Review
from dataset.reviews import cases
from dataset.reviews.cases import refresh_queue
from dataset.reviews.reviews import require_two_reviewers
from dataset.verdicts import aggregate_round
from tests.annotation.cast import answer, associate, candidates, propose
from tests.conftest import client_of
from tests.dataset.releasing import release_version
from tests.dataset.reviewing import another_person, give_level, level_of
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def disputed():
    """A round with two pairs on which two workers disagree, in the queue."""
    made = make_round(make_collection(images=6, pictures=True), candidates=2, replication=2)
    answer(made.hits.get(), 1, 1)
    answer(made.hits.get(), 4, 4, seat=2)
    refresh_queue(made.pool.collection)
    return made


@pytest.fixture
def collection(disputed):
    return disputed.pool.collection


def page_of(pair) -> str:
    return reverse("pair", args=pair)


def conclude(client, pair, conclusion, **more):
    return client.post(reverse("pair_conclude", args=pair), {"conclusion": conclusion, **more})


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_page_shows_votes_annotators_and_related_pairs(researcher, disputed, collection):
    pair, other = candidates(disputed.hits.get())
    propose(disputed, [pair], make_annotator("clip-b32"))
    release_version("v1", collection=collection, sample=disputed.pool.sample, rounds=[disputed])
    associate(collection, "cxc", [pair, (other[0], pair[1]), (pair[0], other[1])], score=3.4)
    text = text_of(researcher.get(page_of(pair)))
    for shown in (
        "clip-b32",
        "#1 of captions",
        "Votes: 1, 4",
        "100% NO",
        "2 of 2",
        "cxc",
        "score 3.4",
        "/versions/v1/",
    ):
        assert shown in text
    assert page_of((other[0], pair[1])) in text
    assert page_of((pair[0], other[1])) in text


@pytest.mark.parametrize("role", ["stranger", "worker", "researcher", "reviewer"])
def test_only_staff_read_the_reports_of_workers(disputed, role):
    pair = candidates(disputed.hits.get())[0]
    work = Assignment.objects.first()
    said = {"assignment": work, "problem": "other", "note": "<b>Turned</b> round."}
    item = disputed.hits.get().items.get(image=pair[0], caption=pair[1])
    Report.objects.create(worker=work.worker, item=item, image_id=pair[0], caption_id=pair[1], **said)
    client = Client() if role in ("stranger", "worker") else client_of(role)
    if role == "worker":
        client.cookies[settings.WORKER_COOKIE_NAME] = worker_token(work.worker, disputed)
    response = client.get(page_of(pair))
    is_staff = role in ("researcher", "reviewer")
    assert response.status_code == (200 if is_staff else 302)
    text = text_of(response)
    for shown in ("Something else", "&lt;b&gt;Turned&lt;/b&gt; round.", work.worker.pseudonym):
        assert (shown in text) == is_staff


def test_the_page_shows_the_status_of_a_pair_in_each_round(researcher, disputed):
    pair = candidates(disputed.hits.get())[0]
    propose(disputed, [pair], make_annotator("clip-b32"))
    ((_, status),) = researcher.get(page_of(pair)).context["statuses"]
    assert (status.done, status.wanted, status.disputed) == (2, 2, True)
    disputed.hits.get().seats.create(round=disputed, number=3)
    ((_, status),) = researcher.get(page_of(pair)).context["statuses"]
    assert (status.wanted, status.is_finished) == (3, False)


def test_each_review_says_which_level_it_changed(researcher, disputed, person):
    pair = candidates(disputed.hits.get())[0]
    aggregate_round(disputed)
    give_level(disputed, pair, 1, by=person)
    give_level(disputed, pair, 2, by=person)
    reviews = researcher.get(page_of(pair)).context["reviews"]
    assert [(review.level, before) for review, before in reviews] == [(2, 1), (1, 4)]


def test_a_pair_of_two_collections_is_not_found(researcher, disputed):
    image = disputed.hits.get().items.first().image_id
    caption = make_collection("farm").captions.first().pk
    assert researcher.get(page_of((image, caption))).status_code == 404


def test_a_decision_leads_to_the_next_pair_with_the_chosen_reason_and_the_last_one_stays(
    reviewer, disputed, collection
):
    first, second = candidates(disputed.hits.get())
    url = reverse("pair_conclude", args=first) + "?reason=disagreement"
    assert reviewer.post(url, {"conclusion": "4", "seen": "0"}).url == page_of(second) + "?reason=disagreement"
    assert level_of(collection, first) == 4
    assert conclude(reviewer, second, "4").url == page_of(second)


def test_the_last_act_is_undone_from_the_next_page(reviewer, disputed, collection):
    first, second = candidates(disputed.hits.get())
    conclude(reviewer, first, "4")
    last = reviewer.get(page_of(second)).context["last"]
    response = reviewer.post(reverse("reviews_undo", args=last["pair"]), {"review": last["reviews"]})
    assert response.url == page_of(first)
    assert level_of(collection, first) is None
    assert Case.objects.waiting().count() == 2


def test_a_group_is_decided_at_once(reviewer, disputed, collection):
    first, second = candidates(disputed.hits.get())
    collection.captions.filter(pk__in=[first[1], second[1]]).update(text="A dog.")
    collection.images.filter(pk__in=[first[0], second[0]]).update(look="00ff00ff00ff00ff")
    assert len(reviewer.get(page_of(first)).context["group"]) == 2
    conclude(reviewer, first, "3", group="on")
    assert [level_of(collection, pair) for pair in (first, second)] == [3, 3]
    assert not Case.objects.waiting().exists()


def test_to_exclude_needs_grounds_and_a_reason(reviewer, disputed):
    pair = candidates(disputed.hits.get())[0]
    response = conclude(reviewer, pair, "excluded", side="caption", grounds="wrong", reason="")
    assert (response.status_code, "reason" in response.context["trouble"]) == (422, True)
    assert conclude(reviewer, pair, "maybe").status_code == 422
    assert not Review.objects.exists()


@pytest.mark.parametrize("side", ["caption", "image"])
def test_a_caption_or_a_picture_is_excluded(reviewer, disputed, side):
    pair = candidates(disputed.hits.get())[0]
    conclude(reviewer, pair, "excluded", side=side, grounds="other", reason="Not a photograph.")
    review = Review.objects.get()
    assert review.subject == ((None, pair[1]) if side == "caption" else (pair[0], None))


def test_a_review_that_another_person_made_meanwhile_is_shown_first(reviewer, disputed, collection):
    pair = candidates(disputed.hits.get())[0]
    give_level(disputed, pair, 1, by=another_person())
    response = conclude(reviewer, pair, "4", seen="0")
    assert (response.status_code, "level" in response.context["trouble"]) == (422, True)
    assert level_of(collection, pair) == 1


def test_a_second_person_agrees_on_the_page(reviewer, disputed, collection):
    require_two_reviewers(collection, True, actor="robin")
    pair = candidates(disputed.hits.get())[0]
    conclude(reviewer, pair, "4")
    url = reverse("review_second", args=[*pair, Review.objects.get().pk])
    reviewer.post(url)
    assert level_of(collection, pair) is None  # one's own review needs another person
    client_of("admin").post(url)
    assert level_of(collection, pair) == 4
    assert Review.objects.get().seconded_by == User.objects.get(username="admin")


def test_the_rule_of_two_is_set_on_the_queue(researcher, disputed, collection):
    researcher.post(reverse("two_reviewers", args=["zoo"]), {"required": "yes"})
    collection.refresh_from_db()
    assert collection.two_reviewers


def test_the_queue_is_brought_up_to_date_by_a_job(reviewer, disputed, commit):
    Case.objects.all().delete()
    with commit(execute=True):
        reviewer.post(reverse("clean_up", args=["zoo"]), {"below": "2"})
    context = reviewer.get(reverse("queue", args=["zoo"])).context
    assert ("disagreement", 2) in [(reason, n) for reason, _, n in context["tabs"]]
    assert (context["checked"].shown, list(context["alarms"])) == (True, [])


def test_the_threshold_of_the_last_search_is_offered_again(reviewer, disputed, commit):
    page = reverse("clean_up", args=["zoo"])
    assert reviewer.get(page).context["form"]["below"].value() == 2
    with commit(execute=True):
        reviewer.post(page, {"below": "3"})
    assert reviewer.get(page).context["form"]["below"].value() == 3


def test_a_queue_that_hides_a_disagreement_raises_an_alarm(reviewer, disputed, monkeypatch, commit):
    monkeypatch.setattr(cases, "disagreements", lambda collection: {})
    with commit(execute=True):
        reviewer.post(reverse("clean_up", args=["zoo"]), {"below": "2"})
    page = reviewer.get(reverse("queue", args=["zoo"]))
    assert ([alarm.round for alarm in page.context["alarms"]], 'role="alert"' in page.text) == ([disputed], True)
    assert "every disagreement" in reviewer.get("/").text


def test_the_page_asks_no_more_for_more_votes_and_matches(researcher, disputed, collection):
    pair = candidates(disputed.hits.get())[0]
    researcher.get(page_of(pair))
    with CaptureQueriesContext(connection) as few:
        researcher.get(page_of(pair))
    captions = collection.captions.values_list("pk", flat=True)
    associate(collection, "cxc", [(pair[0], caption) for caption in captions], score=3)
    again = make_round(collection, "again", candidates=2)
    answer(again.hits.get(), 2, 2)
    with CaptureQueriesContext(connection) as many:
        assert researcher.get(page_of(pair)).status_code == 200
    assert len(many) <= len(few) + 1
    assert len(many) <= 31
