"""Every difference between two versions has one cause, and it is the right one."""

from itertools import count

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Assignment
from annotation.review.decisions import decide
from core.errors import CounterpartError
from corpus.models import Sample
from dataset.models import Review, Version
from dataset.versions.changes import Cause, changes_between, count_causes
from dataset.versions.version_files import load_pairs
from hits.models import Control, Round
from tests.annotation.cast import answer, associate
from tests.dataset.releasing import release as release_round
from tests.dataset.releasing import release_version
from tests.evaluation.worlds import published
from tests.factories import make_collection, make_sample
from tests.hits.pools import SMALL, pack, pool_of
from tests.transactions import taken_back

pytestmark = pytest.mark.django_db

EXAMPLES = count()


@pytest.fixture(scope="module")
def judged(lasting) -> int:
    User.objects.create(username="robin")
    zoo = make_collection(images=12)
    round = published(pack("round-1", pool_of(12, images=12, collection=zoo), design=SMALL, replication=2))
    for number, levels in enumerate([(1, 2, 4, 3), (2, 2, 1, 4), (4, 4, 3, 1)], 1):
        answer(round.hits.get(number=number), *levels)
    answer(round.hits.get(number=1), 4, 4, 1, 1, seat=2, state="flagged")
    pairs = list(round.pool.proposals.order_by("pk").values_list("image_id", "caption_id"))
    associate(zoo, "cxc", pairs[:4], score=4)
    associate(zoo, "cxc", pairs[4:8], score=2)
    associate(zoo, "other", pairs[:2], score=1)
    return round.pk


@pytest.fixture
def round(judged) -> Round:
    """Three HITs with two wanted answer sets each: the first ones given, the second one of HIT 1 flagged."""
    return Round.objects.get(pk=judged)


def release(round: Round, name: str, **options: object) -> Version:
    return release_round(round, name, **{"merge": "original,cxc>=3", "partial": True, **options})


def robin() -> User:
    return User.objects.get(username="robin")


def review(round: Round, **what: object) -> None:
    Review.objects.create(collection=round.pool.collection, by=robin(), **what)


def review_a_pair(round: Round, options: dict) -> None:
    item = round.hits.get(number=1).items.filter(control=None).first()
    review(round, image=item.image, caption=item.caption, conclusion="level", level=4)


def exclude_a_caption(round: Round, options: dict) -> None:
    review(round, caption=round.pool.proposals.first().caption, conclusion="excluded", grounds="meaningless")


def exclude_a_worker(round: Round, options: dict) -> None:
    work = Assignment.objects.filter(hit__round=round, hit__number=2, state="accepted").first()
    decide(work, votes_count=False, paid=True, reason="Careless.", by=robin())


def vote_again(round: Round, options: dict) -> None:
    answer(round.hits.get(number=3), 1, 1, 1, 4, seat=2)


def retire_a_control(round: Round, options: dict) -> None:
    Control.objects.filter(items__hit__number=1).update(state="retired")
    decide(Assignment.objects.get(state="flagged"), votes_count=True, paid=True, reason="Wrong control.", by=robin())


def set_a_threshold(round: Round, options: dict) -> None:
    options["positive_levels"] = (1,)


def merge_another_score(round: Round, options: dict) -> None:
    options["merge"] = "original,cxc>=1"


def merge_another_source(round: Round, options: dict) -> None:
    options["merge"] = "cxc>=3"


def take_another_sample(round: Round, options: dict) -> None:
    sample = Sample.objects.create(name="fewer", collection=round.pool.collection, seed=0)
    sample.images.set(round.pool.collection.images.all()[:3])
    options["sample"] = sample


def another_round(round: Round) -> Round:
    """Judge the pairs of the pool in a second round, with other answers."""
    made = published(pack("round-2", round.pool, design=SMALL, seed=1))
    for hit in made.hits.all():
        answer(hit, 3, 3, 3, 3)
    return made


def add_a_round(round: Round, options: dict) -> None:
    options["rounds"] = [round, another_round(round)]


ACTS = {
    review_a_pair: Cause.REVIEW,
    exclude_a_caption: Cause.CLEAN_UP,
    exclude_a_worker: Cause.WORKER_EXCLUDED,
    vote_again: Cause.NEW_VOTE,
    add_a_round: Cause.ROUND_ADDED,
    retire_a_control: Cause.CONTROL_RETIRED,
    set_a_threshold: Cause.THRESHOLD,
    merge_another_score: Cause.THRESHOLD,
    merge_another_source: Cause.MERGE,
    take_another_sample: Cause.SAMPLE,
}


def differing(before: Version, after: Version) -> set[tuple[str, str]]:
    """Compare the pairs files line by line: the slow reference."""
    said = [{(row.image, row.caption): (row.positive, row.level) for row in load_pairs(one)} for one in (before, after)]
    return {pair for pair in said[0].keys() | said[1].keys() if said[0].get(pair) != said[1].get(pair)}


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_one_act_is_the_cause_of_every_change(round, act):
    before, options = release(round, "v1"), {}
    act(round, options)
    after = release(round, "v2", **options)
    changes = list(changes_between(before, after))
    assert changes
    assert {change.cause for change in changes} == {ACTS[act]}
    assert {(change.image, change.caption) for change in changes} == differing(before, after)


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.sets(st.sampled_from(list(ACTS)), min_size=1), undone=st.booleans())
def test_every_difference_is_explained_by_an_act_that_took_place(round, acts, undone):
    with taken_back():
        number = next(EXAMPLES)  # files are not rolled back
        before, options = release(round, f"a{number}"), {}
        for act in acts:
            act(round, options)
        after = release(round, f"b{number}", **options)
        pair = (after, before) if undone else (before, after)
        changes = list(changes_between(*pair))
    assert {(change.image, change.caption) for change in changes} == differing(*pair)
    assert len(changes) == len({(change.image, change.caption) for change in changes})
    causes = {ACTS[act] for act in acts}
    if undone and Cause.ROUND_ADDED in causes:
        causes = causes - {Cause.ROUND_ADDED} | {Cause.ROUND_LEFT_OUT}
    assert {change.cause for change in changes} <= causes


def test_another_policy_for_ties_is_aggregation(round):
    before = release(round, "v1")
    answer(round.hits.get(number=2), 3, 3, 2, 3, seat=2)
    middle = release(round, "v2")
    after = release(round, "v3", ties="lower")
    assert {change.cause for change in changes_between(before, middle)} == {Cause.NEW_VOTE}
    assert {change.cause for change in changes_between(middle, after)} == {Cause.AGGREGATION}


def test_a_round_that_was_added_or_left_out_is_the_cause_of_what_its_votes_change(round):
    second = another_round(round)
    one, both = release(round, "v1"), release(round, "v2", rounds=[round, second])
    other = release(round, "v3", rounds=[second])
    assert {change.cause for change in changes_between(one, both)} == {Cause.ROUND_ADDED}
    assert {change.cause for change in changes_between(both, one)} == {Cause.ROUND_LEFT_OUT}
    assert {change.cause for change in changes_between(both, other)} == {Cause.ROUND_LEFT_OUT}
    assert {change.cause for change in changes_between(other, both)} == {Cause.ROUND_ADDED}


def test_a_vote_is_new_in_a_round_that_both_versions_have(round):
    second = another_round(round)
    before = release(round, "v1", rounds=[round])
    vote_again(round, {})
    voted, both = release(round, "v2", rounds=[round]), release(round, "v3", rounds=[round, second])
    assert {change.cause for change in changes_between(before, voted)} == {Cause.NEW_VOTE}
    assert {change.cause for change in changes_between(voted, before)} == {Cause.NEW_VOTE}
    # Of as many votes of a new round as new ones of an old round, the round is the cause.
    assert {change.cause for change in changes_between(before, both)} == {Cause.ROUND_ADDED}


def test_an_undone_review_is_a_review_too(round):
    review_a_pair(round, {})
    before = release(round, "v1")
    item = round.hits.get(number=1).items.filter(control=None).first()
    review(round, image=item.image, caption=item.caption, conclusion="kept")
    (change,) = changes_between(before, release(round, "v2"))
    assert (change.cause, change.before.level, change.after.level) == (Cause.REVIEW, "4", "1")


def test_equal_versions_do_not_differ(round):
    assert list(changes_between(release(round, "v1"), release(round, "v2"))) == []


def test_causes_are_counted_the_most_frequent_first(round):
    before = release(round, "v1")
    vote_again(round, {})
    review_a_pair(round, {})
    counts = count_causes(list(changes_between(before, release(round, "v2"))))
    assert list(counts) == ["new vote", "review"]
    assert counts["review"] == 1


def test_versions_of_two_collections_are_not_compared(round):
    farm = make_collection("farm")
    other = release_version("v2", collection=farm, sample=make_sample(farm, "farm"), merge="original")
    with pytest.raises(CounterpartError, match="v1 .* zoo, v2 of farm"):
        list(changes_between(release(round, "v1"), other))
