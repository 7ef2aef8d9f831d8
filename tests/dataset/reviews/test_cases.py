import pytest
from django.core.management import CommandError, call_command

from annotation.models import Judgment
from annotation.work.reports import Complaint, report_pair
from dataset.models import Case, QueueCheck
from dataset.reviews import cases
from dataset.reviews.cases import check_queue, counts_of, disagreements, queue_of, refresh_queue, suspicious_originals
from dataset.reviews.reviews import Conclusion, conclude, undo
from hits.models import HIT
from tests.annotation.cast import answer, associate, candidates
from tests.commands import figures_printed
from tests.dataset.reviewing import KEPT, exclude_caption, exclude_image, give_level
from tests.factories import make_assignment, make_collection, make_round, make_worker

pytestmark = pytest.mark.django_db


def judged(*votes: tuple[int, ...]):
    """A round whose candidates got these votes, one tuple for each worker."""
    made = make_round(candidates=len(votes[0]), replication=len(votes))
    for seat, levels in enumerate(votes, 1):
        answer(made.hits.get(), *levels, seat=seat)
    return made


def queue(made) -> list[tuple[int, int]]:
    return list(queue_of(made.pool.collection).values_list("image_id", "caption_id"))


@pytest.mark.parametrize(
    ("agreed", "disputed", "note"),
    [
        ((1, 1), (4, 1), "votes 1, 4"),
        ((1, 1, 2), (1, 2, 3), "votes 1, 2, 3"),
        ((2, 2, 2, 4), (1, 1, 3, 4), "votes 1, 1, 3, 4"),
    ],
)
def test_a_pair_without_a_majority_or_with_a_tie_is_a_disagreement(agreed, disputed, note):
    made = judged(*zip(agreed, disputed, strict=True))
    assert disagreements(made.pool.collection) == {candidates(made.hits.get())[1]: note}


def test_votes_that_do_not_count_do_not_disagree():
    made = make_round(candidates=1, replication=2)
    answer(made.hits.get(), 1)
    answer(made.hits.get(), 4, seat=2, state="flagged")
    assert disagreements(made.pool.collection) == {}


def test_an_original_that_workers_refuse_is_suspicious_also_as_a_control():
    made = judged((1,))
    control = made.controls.get(polarity="positive")
    Judgment.objects.filter(item__control=control).update(level=4)
    assert suspicious_originals(made.pool.collection) == {
        (control.image_id, control.caption_id): "1 of 1 answers, those on controls included, say 100% NO"
    }


def test_an_original_that_cxc_scores_below_2_is_suspicious():
    made = judged((1,))
    collection = made.pool.collection
    first, second = collection.captions.values_list("image_id", "pk")[:2]
    associate(collection, "cxc", [first, candidates(made.hits.get())[0]], score=1.5)
    associate(collection, "cxc", [second], score=2)
    assert suspicious_originals(collection) == {first: "cxc 1.5"}


def report(made, pair, problem: str = "picture", *, workers: int = 1) -> None:
    """Have this number of further workers report the pair of the round's only HIT."""
    item = made.hits.get().items.get(image=pair[0], caption=pair[1])
    for _ in range(workers):
        seat = made.hits.get().seats.create(round=made, number=made.hits.get().seats.count() + 1)
        report_pair(make_assignment(seat, make_worker()), Complaint(item.pk, problem))


def test_a_pair_is_the_more_urgent_the_more_workers_report_it():
    made = judged((1, 1), (1, 4))
    collection = made.pool.collection
    reported, disputed = candidates(made.hits.get())
    report(made, reported)
    refresh_queue(collection)
    assert queue(made) == [disputed, reported]
    report(made, reported, "offensive", workers=2)
    refresh_queue(collection)
    assert queue(made) == [reported, disputed]
    case = Case.objects.waiting().first()
    said = "the picture or the sentence is offensive (2); the picture is missing or broken (1)"
    assert (case.reasons, case.priority) == ({"reported": said}, 45)
    report(made, disputed)
    refresh_queue(collection)
    assert Case.objects.get(caption=disputed[1]).priority == 35
    assert counts_of(collection) | {"reported": 2, "disagreement": 1, "waiting": 2} == counts_of(collection)


def test_a_reported_control_is_in_the_queue_too():
    made = judged((1,))
    control = made.controls.first()
    report(made, (control.image_id, control.caption_id))
    assert refresh_queue(made.pool.collection)["reported"] == 1


@pytest.mark.parametrize("settle", ["level", "excluded"])
def test_a_level_or_an_exclusion_settles_reports(person, settle):
    made = judged((1,))
    pair = candidates(made.hits.get())[0]
    report(made, pair)
    refresh_queue(made.pool.collection)
    if settle == "level":
        give_level(made, pair, 1, by=person)
    else:
        exclude_image(made.pool.collection, pair[0], by=person)
    report(made, pair)
    assert refresh_queue(made.pool.collection)["waiting"] == 0


def test_reports_of_another_collection_are_not_in_the_queue():
    made, other = judged((1,)), make_round(make_collection("elsewhere"), "elsewhere")
    report(other, candidates(other.hits.get())[0])
    assert refresh_queue(made.pool.collection)["waiting"] == 0


def test_the_queue_lists_the_most_urgent_first_and_refreshing_again_changes_nothing():
    made = judged((1, 1), (4, 4))
    collection = made.pool.collection
    first, second = candidates(made.hits.get())
    associate(collection, "original", [second])
    associate(collection, "cxc", [second], score=1)
    for _ in range(2):
        assert refresh_queue(collection)["waiting"] == 2
    assert queue(made) == [second, first]
    assert Case.objects.waiting().first().reasons == {
        "disagreement": "votes 1, 4",
        "suspicious": "cxc 1; 1 of 2 answers, those on controls included, say 100% NO",
    }


def test_a_case_leaves_when_nothing_speaks_for_it_any_more():
    made = judged((1,), (4,))
    refresh_queue(made.pool.collection)
    Judgment.objects.update(level=1)
    assert refresh_queue(made.pool.collection)["waiting"] == 0
    assert not Case.objects.exists()


def test_a_pair_that_was_reviewed_before_and_those_of_an_excluded_caption_get_no_case(person):
    made = judged((1, 1), (4, 4))
    reviewed, excluded = candidates(made.hits.get())
    give_level(made, reviewed, 4, by=person)
    exclude_caption(made.pool.collection, excluded[1], by=person)
    assert refresh_queue(made.pool.collection)["waiting"] == 0


def test_excluding_a_caption_settles_all_its_cases_and_undoing_brings_them_back(person):
    made = judged((1, 1), (4, 4))
    refresh_queue(made.pool.collection)
    review = exclude_caption(made.pool.collection, queue(made)[0][1], by=person)
    assert len(queue(made)) == 1
    undo([review], by=person)
    assert len(queue(made)) == 2


def test_an_undone_case_waits_again_and_can_be_kept(person):
    made = judged((1,), (4,))
    refresh_queue(made.pool.collection)
    (pair,) = queue(made)
    undo([give_level(made, pair, 4, by=person)], by=person)
    assert queue(made) == [pair]
    conclude(made.pool.collection, [pair], Conclusion(KEPT), by=person)
    assert queue(made) == []


# The comparison with the votes


def rows() -> list[int]:
    return [model.objects.count() for model in (HIT, Judgment, Case)]


def test_a_queue_with_every_disagreement_passes_the_check_which_changes_nothing_else():
    made = judged((1,), (4,))
    refresh_queue(made.pool.collection)
    before = rows()
    assert check_queue(made)
    assert rows() == before
    assert QueueCheck.objects.get().shown


def test_a_queue_that_hides_disagreements_is_found_out(monkeypatch):
    made = judged((1,), (4,))
    monkeypatch.setattr(cases, "disagreements", lambda collection: {})
    refresh_queue(made.pool.collection)
    assert not check_queue(made)
    assert not QueueCheck.objects.get().shown
    with pytest.raises(CommandError, match="does not show every pair of"):
        call_command("review", "queue", made.name)


def test_a_reviewed_disagreement_and_that_of_an_excluded_caption_are_not_hidden(person):
    made = judged((1, 1), (4, 4))
    collection = made.pool.collection
    kept, excluded = candidates(made.hits.get())
    refresh_queue(collection)
    conclude(collection, [kept], Conclusion(KEPT), by=person)
    exclude_caption(collection, excluded[1], by=person)
    refresh_queue(collection)
    assert check_queue(made)


def test_the_command_refreshes_counts_and_checks():
    made = judged((1,), (4,))
    figures = figures_printed("review", "queue", made.name)
    assert (figures["disagreement"], figures["waiting"]) == (1, 1)
