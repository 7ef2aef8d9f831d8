import pytest

from annotation.models import Assignment
from core.errors import CounterpartError
from core.models import Event
from dataset.models import Verdict
from dataset.verdicts import aggregate_round, current_aggregation
from tests.annotation.cast import answer, candidates
from tests.factories import make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    return make_round(hits=1, candidates=2, replication=3)


def verdict(round, place: int) -> Verdict:
    image, caption = candidates(round.hits.get())[place - 1]
    return Verdict.objects.get(aggregation__round=round, image=image, caption=caption)


def test_a_verdict_holds_the_shares_of_the_votes(round):
    for seat, level in enumerate((1, 1, 3), 1):
        answer(round.hits.get(), level, 4, seat=seat)
    aggregate_round(round)
    first = verdict(round, 1)
    assert (first.level, first.votes) == (1, 3)
    assert first.distribution == pytest.approx([2 / 3, 0, 1 / 3, 0])
    assert first.confidence == pytest.approx(2 / 3)


def test_controls_never_become_verdicts(round):
    answer(round.hits.get(), 1, 2)
    aggregate_round(round)
    assert sorted(Verdict.objects.values_list("image", "caption")) == sorted(candidates(round.hits.get()))


@pytest.mark.parametrize("state", ["excluded", "flagged", "submitted"])
def test_only_accepted_work_counts(round, state):
    answer(round.hits.get(), 1, 1)
    answer(round.hits.get(), 4, 4, seat=2, state=state)
    aggregate_round(round)
    assert verdict(round, 1).votes == 1


def test_aggregating_again_rewrites_the_verdicts(round):
    first = answer(round.hits.get(), 1, 1)
    aggregate_round(round)
    Assignment.objects.filter(pk=first.pk).update(state="excluded")
    answer(round.hits.get(), 4, 3, seat=2)
    aggregate_round(round)
    assert [verdict(round, 1).level, verdict(round, 2).level] == [4, 3]


def test_other_rounds_do_not_enter(round):
    other = make_round(round.pool.collection, name="round-2")
    answer(other.hits.get(), 4, 4)
    answer(round.hits.get(), 1, 1)
    assert aggregate_round(round)["pairs"] == 2


def test_the_policy_for_ties_is_followed_and_recorded(round):
    answer(round.hits.get(), 1, 1)
    answer(round.hits.get(), 4, 1, seat=2)
    aggregate_round(round, ties="lower")
    assert verdict(round, 1).level == 1
    assert current_aggregation(round).ties == "lower"


def test_the_summary_counts_pairs_by_level(round):
    answer(round.hits.get(), 1, 3)
    assert aggregate_round(round) == {
        "judgments": 2, "pairs": 2, "level 1": 1, "level 2": 0, "level 3": 1, "level 4": 0,
    }  # fmt: skip


def test_a_round_without_counted_judgments_keeps_its_verdicts(round):
    assignment = answer(round.hits.get(), 1, 1)
    aggregate_round(round)
    Assignment.objects.filter(pk=assignment.pk).update(state="excluded")
    with pytest.raises(CounterpartError, match="round-1 has no judgments that count"):
        aggregate_round(round)
    assert Verdict.objects.count() == 2


def test_an_unknown_method_is_refused(round):
    with pytest.raises(CounterpartError, match="Unknown aggregation method 'guess'"):
        aggregate_round(round, method="guess")


def test_verdicts_that_a_decision_overtook_are_told(round):
    assignment = answer(round.hits.get(), 1, 1)
    aggregate_round(round)
    Assignment.objects.filter(pk=assignment.pk).update(state="excluded")
    answer(round.hits.get(), 2, 2, seat=2)
    with pytest.raises(CounterpartError, match="Run aggregate round-1 again"):
        current_aggregation(round)


def test_a_round_never_aggregated_is_told(round):
    with pytest.raises(CounterpartError, match="Run aggregate round-1 first"):
        current_aggregation(round)


def test_aggregating_writes_an_event(round):
    answer(round.hits.get(), 1, 1)
    aggregate_round(round)
    assert Event.objects.filter(verb="aggregated", data__judgments=2).count() == 1


def test_the_number_of_queries_does_not_grow_with_the_round(django_assert_max_num_queries):
    large = make_round(hits=12, candidates=4)
    for hit in large.hits.all():
        answer(hit, 1, 2, 3, 4)
    with django_assert_max_num_queries(10):
        aggregate_round(large)
