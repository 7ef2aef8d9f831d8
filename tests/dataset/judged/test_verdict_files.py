import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from corpus.models import Caption, Image
from dataset.judged.verdict_files import count_verdicts, judged_pairs, verdicts_on
from dataset.models import Aggregation, Review, Verdict
from dataset.reviews.cases import refresh_queue
from dataset.reviews.reviews import Conclusion, conclude
from dataset.verdicts import aggregate_round
from hits.models import Round
from tests.annotation.cast import answer, candidates, propose
from tests.dataset.reviewing import another_person
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def judged(lasting) -> Round:
    """Four candidates with votes 1 1, 1 4 (a tie: 4), 4 4, 2 2, whose keys are in another order than their ids."""
    collection = make_collection(images=8, pictures=True)
    for number, image in enumerate(collection.images.order_by("-pk")):
        Image.objects.filter(pk=image.pk).update(key=f"key-{number}")
    judged = make_round(collection, candidates=4, replication=2)
    answer(judged.hits.get(), 1, 1, 4, 2)
    answer(judged.hits.get(), 1, 4, 4, 2, seat=2)
    return judged


@pytest.fixture
def large(monkeypatch):
    """Aggregations of more than three pairs have a file."""
    monkeypatch.setattr("dataset.verdicts.LARGE", 3)


def known(judged) -> dict:
    """What is read of the pairs: pair → level, distribution, confidence, votes, probability."""
    pairs = candidates(judged.hits.get())
    images = list(Image.objects.filter(pk__in=[image for image, _ in pairs]))
    captions = list(Caption.objects.filter(pk__in=[caption for _, caption in pairs]))
    found = verdicts_on(list(Aggregation.objects.all()), images, captions)
    columns = "level", "distribution", "confidence", "votes", "probability"
    return {(one.image_id, one.caption_id): tuple(getattr(one, name) for name in columns) for one in found}


def test_a_file_says_of_every_pair_what_rows_say(judged, request):
    figures = aggregate_round(judged)
    in_rows = known(judged)
    assert [in_rows[pair][0] for pair in candidates(judged.hits.get())] == [1, 4, 4, 2]
    request.getfixturevalue("large")
    assert aggregate_round(judged) == figures
    assert known(judged) == in_rows
    assert Verdict.objects.count() == 0
    assert count_verdicts(Aggregation.objects.get()) == 4


def test_the_judged_pairs_of_an_image_and_of_a_caption_are_found(judged, large):
    aggregate_round(judged)
    for image, caption in candidates(judged.hits.get()):
        assert (image, caption) in judged_pairs(Image.objects.get(pk=image))
        assert (image, caption) in judged_pairs(Caption.objects.get(pk=caption))
    assert judged_pairs(Caption.objects.exclude(pk__in=[one for _, one in candidates(judged.hits.get())])[0]) == set()


def test_pairs_under_review_have_rows_whenever_their_case_is_opened(judged, large):
    aggregate_round(judged)
    tie = candidates(judged.hits.get())[1]
    refresh_queue(judged.pool.collection)
    assert Verdict.objects.values_list("image", "caption", "level").get() == (*tie, 4)
    aggregate_round(judged)
    refresh_queue(judged.pool.collection)
    assert Verdict.objects.values_list("image", "caption").get() == tie


def test_reviewed_pairs_have_rows(judged, large):
    pair = candidates(judged.hits.get())[3]
    conclude(judged.pool.collection, [pair], Conclusion(Review.Conclusion.LEVEL, level=1), by=another_person())
    aggregate_round(judged)
    assert Verdict.objects.values_list("image", "caption", "level").get() == (*pair, 2)


def test_the_same_verdicts_have_the_same_file_and_others_replace_it(judged, large, django_capture_on_commit_callbacks):
    aggregate_round(judged)
    first = Aggregation.objects.get().stored
    with django_capture_on_commit_callbacks(execute=True):
        aggregate_round(judged)
    assert Aggregation.objects.get().stored == first
    assert default_storage.exists(first.path)
    judged.hits.get().seats.create(round=judged, number=3)
    answer(judged.hits.get(), 4, 4, 4, 4, seat=3)
    with django_capture_on_commit_callbacks(execute=True):
        aggregate_round(judged)
    assert Aggregation.objects.get().stored != first
    assert not default_storage.exists(first.path)


def test_below_the_size_verdicts_are_rows_again(judged, monkeypatch, large, django_capture_on_commit_callbacks):
    aggregate_round(judged)
    path = Aggregation.objects.get().file
    monkeypatch.setattr("dataset.verdicts.LARGE", 4)
    with django_capture_on_commit_callbacks(execute=True):
        aggregate_round(judged)
    assert Verdict.objects.count() == 4
    assert not default_storage.exists(path)


def test_pages_show_verdicts_of_files(judged, large, researcher):
    aggregate_round(judged)
    pair = candidates(judged.hits.get())[1]
    lines = researcher.get(reverse("pairs", args=["round", judged.name])).context["lines"]
    assert [line.verdicts[0].level for line in lines] == [1, 4, 4, 2]
    assert "1 of 2 votes" in researcher.get(reverse("pair", args=pair)).text
    assert researcher.get(reverse("round", args=[judged.name])).context["verdict_count"] == 4


FILTERS = [
    {"verdict": "yes"},
    {"verdict": "no"},
    {"verdict": "2"},
    {"disagreement": "yes"},
    {"disagreement": "no", "votes": "2"},
    {"sure": "90"},
    {"sure": "99", "text": "thing"},
    {"verdict": "no", "annotator": "words", "rank": "1"},
    {"verdict": "no", "level": "1"},
    {"verdict": "no", "annotator": "words", "unlike": "others"},
    {"sort": "unsure"},
    {"sort": "level"},
    {"sort": "level", "image": "key-2"},
    {"sort": "unsure", "annotator": "words"},
]


def test_a_file_answers_the_filters_of_a_round_as_rows_do(judged, researcher, request):
    words, others = make_annotator("words"), make_annotator("others")
    pairs = candidates(judged.hits.get())
    propose(judged, pairs[:3], words)
    propose(judged, pairs[1:2], others)

    def shown(asked: dict[str, str]) -> tuple[list, list, list]:
        """The pairs of the page and of the download, and how what they are sorted by follows."""
        lines = researcher.get(reverse("pairs", args=["round", judged.name], query=asked)).context["lines"]
        download = researcher.get(reverse("pairs_csv", args=["round", judged.name], query=asked)).getvalue().decode()
        verdicts = [line.verdicts[0] for line in lines]
        order = [{"level": (one.level, one.confidence)}.get(asked.get("sort"), one.probability) for one in verdicts]
        pairs = sorted((line.image.pk, line.caption.pk) for line in lines)
        return pairs, order if "sort" in asked else [], sorted(download.splitlines())

    aggregate_round(judged)
    in_rows = {str(asked): shown(asked) for asked in FILTERS}
    request.getfixturevalue("large")
    aggregate_round(judged)
    assert not Verdict.objects.exists()
    assert {str(asked): shown(asked) for asked in FILTERS} == in_rows


def test_filters_of_a_pool_see_pairs_under_review_and_say_so(judged, large, researcher):
    aggregate_round(judged)
    refresh_queue(judged.pool.collection)
    page = researcher.get(reverse("pairs", args=["pool", judged.pool.name], query={"verdict": "no"}))
    assert [(line.image.pk, line.caption.pk) for line in page.context["lines"]] == [candidates(judged.hits.get())[1]]
    assert "are in a file" in page.content.decode()


def test_a_file_is_not_searched_for_pairs_without_a_verdict(judged, large, researcher):
    aggregate_round(judged)
    none = researcher.get(reverse("pairs", args=["round", judged.name], query={"verdict": "none"}))
    assert "cannot be searched for pairs" in none.content.decode()
