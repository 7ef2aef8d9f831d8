import pytest

from annotation.models import Judgment, Worker
from core.errors import CounterpartError
from dataset.reviews.cases import queue_of, refresh_queue
from dataset.reviews.conflicts import conflicts_of, merge_counts, preview, send_to_review
from dataset.versions.contents import Policies
from dataset.versions.merging import parse_merge
from hits.models import Round
from tests.annotation.cast import answer, associate, candidates, sample_of
from tests.commands import figures_printed
from tests.dataset.releasing import release
from tests.dataset.reviewing import exclude_caption, give_level
from tests.factories import make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    """Three candidates, judged 1, 4 and 3; CxC has all three, the second one at 2.5, and an unjudged one."""
    made = make_round(candidates=3)
    answer(made.hits.get(), 1, 4, 3)
    yes, no, mostly_no = candidates(made.hits.get())
    collection = made.pool.collection
    associate(collection, "cxc", [yes, mostly_no], score=4)
    associate(collection, "cxc", [no], score=2.5)
    associate(collection, "cxc", [(yes[0], no[1])], score=3)
    return made


def contents(round, merge: str = "cxc>=3,original", **policies):
    return preview(sample_of(round), rounds=[round], policies=Policies(merge=tuple(parse_merge(merge)), **policies))


def source(counts, name: str) -> dict:
    return next(one for one in counts["sources"] if one["source"] == name)


def test_counts_follow_the_threshold_and_are_those_of_the_release(round):
    low, counts = merge_counts(contents(round, "cxc>=2")), merge_counts(contents(round))
    assert source(low, "cxc>=2") == {"source": "cxc>=2", "pairs": 4, "new": 1, "conflicts": 2}
    assert source(counts, "cxc>=3") == {"source": "cxc>=3", "pairs": 3, "new": 1, "conflicts": 1}
    released = release(round, merge="cxc>=3,original").manifest["counts"]
    assert counts["positives"] == released["positives"]
    assert counts["judged positive"] == released["judged_positive"]


def simulated(contents) -> int:
    return sum(verdict.simulated for verdict in contents.verdicts.values())


def test_votes_of_programs_and_of_rehearsals_are_counted_as_simulated(round):
    chosen = {"rounds": [round], "policies": Policies(merge=())}
    sample = sample_of(round)
    assert simulated(preview(sample, **chosen)) == 0
    Worker.objects.filter(pk=Judgment.objects.first().worker_id).update(simulated=True)
    assert simulated(preview(sample, **chosen)) == Judgment.objects.of_candidates().simulated().count() > 0
    Round.objects.update(rehearsal=True)
    round.refresh_from_db()
    every = sum(verdict.votes for verdict in preview(sample, **chosen).verdicts.values())
    assert simulated(preview(sample, **chosen)) == every


def test_a_conflict_names_its_sources_and_votes_and_may_be_with_an_original(round):
    (conflict,) = conflicts_of(contents(round))
    _yes, no, mostly_no = candidates(round.hits.get())
    collection = round.pool.collection
    image, caption = collection.images.get(pk=mostly_no[0]), collection.captions.get(pk=mostly_no[1])
    assert (conflict.image, conflict.caption) == (image.key, caption.key)
    assert (conflict.level, conflict.votes, conflict.sources) == (3, 1, ("cxc>=3",))
    associate(collection, "original", [no])
    assert {one.sources for one in conflicts_of(contents(round))} == {("cxc>=3",), ("original",)}


def test_a_review_settles_a_conflict(round, person):
    give_level(round, candidates(round.hits.get())[2], 1, by=person)
    assert conflicts_of(contents(round)) == []


def test_excluded_captions_have_no_conflicts(round, person):
    exclude_caption(round.pool.collection, candidates(round.hits.get())[2][1], by=person)
    counts = merge_counts(contents(round))
    assert (counts["conflicts"], source(counts, "cxc>=3")["pairs"]) == (0, 2)


def test_conflicts_are_sent_to_review_once_and_outlive_a_refresh(round):
    collection, found = round.pool.collection, conflicts_of(contents(round))
    assert [send_to_review(collection, found), send_to_review(collection, found)] == [1, 0]
    refresh_queue(collection)
    case = queue_of(collection, "conflict").get()
    assert case.reasons == {"conflict": "cxc>=3 say yes, people level 3 (1 vote)"}


def test_a_conflict_that_a_reviewer_confirmed_is_not_sent(round, person):
    give_level(round, candidates(round.hits.get())[2], 4, by=person)
    found = conflicts_of(contents(round))
    assert [one.review for one in found] == [True]
    assert send_to_review(round.pool.collection, found) == 0


def test_what_cannot_be_counted_is_refused(round):
    with pytest.raises(CounterpartError, match="not in zoo: vg"):
        contents(round, "vg")
    with pytest.raises(CounterpartError, match="There is nothing to count"):
        preview(sample_of(round), rounds=[], policies=Policies(merge=()))


def test_the_command_counts_lists_and_sends(round):
    options = ("--rounds=round-1", "--merge=cxc>=3,original", "--send")
    figures = figures_printed("review", "conflicts", sample_of(round).name, *options)
    assert (figures["conflicts"], len(figures["listed"]), figures["sent"]) == (1, 1, 1)
