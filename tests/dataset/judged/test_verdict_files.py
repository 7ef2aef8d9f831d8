import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from corpus.models import Caption, Image
from dataset.judged.verdict_files import count_verdicts, judged_pairs, verdicts_on
from dataset.models import Aggregation, Review, Verdict
from dataset.reviews.cases import refresh_queue
from dataset.reviews.reviews import Conclusion, conclude
from dataset.verdicts import aggregate_round
from mitl.models import Proposal
from tests.annotation.cast import answer, candidates
from tests.dataset.reviewing import another_person
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    """Four candidates with votes 1 1, 1 4 (a tie: 4), 4 4, 2 2, whose keys are in another order than their ids."""
    collection = make_collection(images=8, pictures=True)
    for number, image in enumerate(collection.images.order_by("-pk")):
        Image.objects.filter(pk=image.pk).update(key=f"key-{number}")
    made = make_round(collection, candidates=4, replication=2)
    answer(made.hits.get(), 1, 1, 4, 2)
    answer(made.hits.get(), 1, 4, 4, 2, seat=2)
    return made


@pytest.fixture
def large(monkeypatch):
    """Aggregations of more than three pairs have a file."""
    monkeypatch.setattr("dataset.verdicts.LARGE", 3)


def known(made, pairs=None) -> dict:
    """What is read of the pairs: pair → level, distribution, confidence, votes, probability."""
    pairs = pairs or candidates(made.hits.get())
    images = list(Image.objects.filter(pk__in=[image for image, _ in pairs]))
    captions = list(Caption.objects.filter(pk__in=[caption for _, caption in pairs]))
    found = verdicts_on(list(Aggregation.objects.all()), images, captions)
    columns = "level", "distribution", "confidence", "votes", "probability"
    return {(one.image_id, one.caption_id): tuple(getattr(one, name) for name in columns) for one in found}


def test_a_file_says_of_every_pair_what_rows_say(made, request):
    figures = aggregate_round(made)
    in_rows = known(made)
    assert [in_rows[pair][0] for pair in candidates(made.hits.get())] == [1, 4, 4, 2]
    request.getfixturevalue("large")
    assert aggregate_round(made) == figures
    assert known(made) == in_rows
    assert Verdict.objects.count() == 0
    assert count_verdicts(Aggregation.objects.get()) == 4


def test_one_pair_is_looked_up(made, large):
    aggregate_round(made)
    pair = candidates(made.hits.get())[1]
    assert known(made, [pair]) == {pair: (4, [0.5, 0, 0, 0.5], 0.5, 2, 0.423896)}


def test_the_judged_pairs_of_an_image_and_of_a_caption_are_found(made, large):
    aggregate_round(made)
    for image, caption in candidates(made.hits.get()):
        assert (image, caption) in judged_pairs(Image.objects.get(pk=image))
        assert (image, caption) in judged_pairs(Caption.objects.get(pk=caption))
    assert judged_pairs(Caption.objects.exclude(pk__in=[one for _, one in candidates(made.hits.get())])[0]) == set()


def test_pairs_under_review_have_rows_whenever_their_case_is_opened(made, large):
    aggregate_round(made)
    tie = candidates(made.hits.get())[1]
    refresh_queue(made.pool.collection)
    assert Verdict.objects.values_list("image", "caption", "level").get() == (*tie, 4)
    aggregate_round(made)
    refresh_queue(made.pool.collection)
    assert Verdict.objects.values_list("image", "caption").get() == tie


def test_reviewed_pairs_have_rows(made, large):
    pair = candidates(made.hits.get())[3]
    conclude(made.pool.collection, [pair], Conclusion(Review.Conclusion.LEVEL, level=1), by=another_person())
    aggregate_round(made)
    assert Verdict.objects.values_list("image", "caption", "level").get() == (*pair, 2)


def test_the_same_verdicts_have_the_same_file_and_others_replace_it(made, large, django_capture_on_commit_callbacks):
    aggregate_round(made)
    first = Aggregation.objects.get().stored
    with django_capture_on_commit_callbacks(execute=True):
        aggregate_round(made)
    assert Aggregation.objects.get().stored == first
    assert default_storage.exists(first.path)
    answer(make_another_seat(made), 4, 4, 4, 4, seat=3)
    with django_capture_on_commit_callbacks(execute=True):
        aggregate_round(made)
    assert Aggregation.objects.get().stored != first
    assert not default_storage.exists(first.path)


def make_another_seat(made):
    hit = made.hits.get()
    hit.seats.create(round=made, number=3)
    return hit


def test_below_the_size_verdicts_are_rows_again(made, monkeypatch, large, django_capture_on_commit_callbacks):
    aggregate_round(made)
    path = Aggregation.objects.get().file
    monkeypatch.setattr("dataset.verdicts.LARGE", 4)
    with django_capture_on_commit_callbacks(execute=True):
        aggregate_round(made)
    assert Verdict.objects.count() == 4
    assert not default_storage.exists(path)


def test_pages_show_verdicts_of_files(made, large, researcher):
    aggregate_round(made)
    pair = candidates(made.hits.get())[1]
    lines = researcher.get(reverse("pairs", args=["round", made.name])).context["lines"]
    assert [line.verdicts[0].level for line in lines] == [1, 4, 4, 2]
    (verdict,) = researcher.get(reverse("pair", args=pair)).context["verdicts"]
    assert verdict.support == "1 of 2 votes"
    assert researcher.get(reverse("round", args=[made.name])).context["verdict_count"] == 4


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
    {"verdict": "no", "annotator": "words", "beside": "others", "differ": "on"},
    {"sort": "unsure"},
    {"sort": "level"},
    {"sort": "level", "image": "key-2"},
    {"sort": "unsure", "annotator": "words"},
]


@pytest.mark.parametrize("asked", FILTERS, ids=str)
def test_a_file_answers_the_filters_of_a_round_as_rows_do(made, researcher, request, asked):
    words, others = make_annotator("words"), make_annotator("others")
    pairs = candidates(made.hits.get())
    for annotator, proposed in ((words, pairs[:3]), (others, pairs[1:2])):
        for image, caption in proposed:
            ids = {"image_id": image, "caption_id": caption}
            Proposal.objects.create(pool=made.pool, annotator=annotator, direction="i2t", rank=1, score=0.5, **ids)

    def shown() -> tuple[list, list, list]:
        """The pairs of each side and of the download, and how what they are sorted by follows."""
        sides = researcher.get(reverse("pairs", args=["round", made.name], query=asked)).context["sides"]
        download = researcher.get(reverse("pairs_csv", args=["round", made.name], query=asked)).getvalue().decode()
        verdicts = [line.verdicts[0] for line in sides[0].lines]
        order = [{"level": (one.level, one.confidence)}.get(asked.get("sort"), one.probability) for one in verdicts]
        pairs = [sorted((line.image.pk, line.caption.pk) for line in side.lines) for side in sides]
        return pairs, order if "sort" in asked else [], sorted(download.splitlines())

    aggregate_round(made)
    in_rows = shown()
    request.getfixturevalue("large")
    aggregate_round(made)
    assert not Verdict.objects.exists()
    assert shown() == in_rows


def test_filters_of_a_pool_see_pairs_under_review_and_say_so(made, large, researcher):
    aggregate_round(made)
    refresh_queue(made.pool.collection)
    page = researcher.get(reverse("pairs", args=["pool", made.pool.name], query={"verdict": "no"}))
    assert [(line.image.pk, line.caption.pk) for line in page.context["lines"]] == [candidates(made.hits.get())[1]]
    assert "verdicts of round-1 are in a file" in page.content.decode()


def test_a_file_is_not_searched_for_pairs_without_a_verdict(made, large, researcher):
    aggregate_round(made)
    none = researcher.get(reverse("pairs", args=["round", made.name], query={"verdict": "none"}))
    assert "cannot be searched for pairs" in none.content.decode()
