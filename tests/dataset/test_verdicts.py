import random
import re

import pytest

from annotation.models import Assignment, Worker
from core.errors import CounterpartError
from core.models import Event
from core.progress import silent
from counterpart_statistics.aggregation import METHODS, conclude
from dataset.judged.answer_tables import votes_of
from dataset.judged.released_rows import judgment_rows
from dataset.judged.released_tables import read_answers, votes_among
from dataset.models import Aggregation, Verdict
from dataset.releases.release_parameters import AggregateParameters
from dataset.verdicts import aggregate_round
from dataset.versions.rendering import render_judgments
from hits.models import Control
from tests.annotation.cast import answer, candidates, propose
from tests.commands import figures_printed, output_of
from tests.factories import make_annotator, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    return make_round(hits=1, candidates=2, replication=3)


def verdict(round, place: int) -> Verdict:
    image, caption = candidates(round.hits.get())[place - 1]
    return Verdict.objects.get(aggregation__round=round, image=image, caption=caption)


def test_a_verdict_holds_the_shares_of_the_votes_and_no_control_has_one(round):
    for seat, level in enumerate((1, 1, 3), 1):
        answer(round.hits.get(), level, 4, seat=seat)
    aggregate_round(round)
    first = verdict(round, 1)
    assert (first.level, first.votes) == (1, 3)
    assert first.distribution == pytest.approx([2 / 3, 0, 1 / 3, 0])
    assert first.confidence == pytest.approx(2 / 3)
    assert sorted(Verdict.objects.values_list("image", "caption")) == sorted(candidates(round.hits.get()))


def test_only_accepted_work_counts(round):
    answer(round.hits.get(), 1, 1)
    other = answer(round.hits.get(), 4, 4, seat=2)
    for state in ("excluded", "flagged", "submitted"):
        Assignment.objects.filter(pk=other.pk).update(state=state)
        aggregate_round(round)
        assert verdict(round, 1).votes == 1, state


def test_aggregating_again_rewrites_the_verdicts_unless_no_judgment_counts(round):
    first = answer(round.hits.get(), 1, 1)
    aggregate_round(round)
    Assignment.objects.filter(pk=first.pk).update(state="excluded")
    answer(round.hits.get(), 4, 3, seat=2)
    aggregate_round(round)
    assert [verdict(round, 1).level, verdict(round, 2).level] == [4, 3]
    Assignment.objects.update(state="excluded")
    with pytest.raises(CounterpartError, match="no judgments that count"):
        aggregate_round(round)
    assert Verdict.objects.count() == 2


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
    assert Aggregation.objects.get().ties == "lower"


def test_the_summary_counts_pairs_by_level_and_an_event_keeps_it(round):
    answer(round.hits.get(), 1, 3)
    assert aggregate_round(round) == {
        "judgments": 2, "pairs": 2, "level 1": 1, "level 2": 0, "level 3": 1, "level 4": 0,
        "positive, strict": 1, "positive, lenient": 1, "silent": "Too few answer sets to say (1; 20 are needed).",
    }  # fmt: skip
    assert Event.objects.filter(verb="aggregated", data__judgments=2).count() == 1


def test_what_no_aggregation_knows_is_refused():
    for wish, message in (
        ({"method": "guess"}, "Invalid method 'guess'"),
        ({"ties": "coin"}, "Invalid ties 'coin'"),
        ({"seed": -1}, "Invalid seed -1: use a whole number from 0"),
        ({"seed": 2**63}, f"Invalid seed {2**63}: use a whole number from 0"),
    ):
        with pytest.raises(CounterpartError, match=message):
            AggregateParameters(round="round-1", **wish)


@pytest.mark.slow
def test_a_release_and_aggregate_never_differ(tmp_path):
    """A release names workers by other pseudonyms and lists the judgments in another order."""
    judged = make_round(hits=3, candidates=4, replication=3)
    levels = random.Random(1)
    workers = [Worker.objects.create() for _ in range(3)]
    for hit in judged.hits.all():
        for seat, worker in enumerate(workers, 1):
            answer(hit, *(levels.randint(1, 4) for _ in range(4)), seat=seat, worker=worker)
    released = votes_among(read_answers(render_judgments(judgment_rows([judged], key="secret"), tmp_path, silent)))
    for method in METHODS:
        aggregate_round(judged, method=method)
        columns = ("image__key", "caption__key", "level", "distribution", "confidence", "votes")
        concluded = [
            (
                row.image,
                row.caption,
                row.level,
                [row.share_1, row.share_2, row.share_3, row.share_4],
                row.confidence,
                row.votes,
            )
            for row in conclude(released, method=method).itertuples()
        ]
        stored = Verdict.objects.filter(aggregation__method=method).values_list(*columns)
        assert sorted(stored) == concluded, method


def test_votes_on_retired_controls_are_not_used_for_workers(round, tmp_path):
    answer(round.hits.get(), 1, 4)
    Control.objects.filter(polarity="positive").update(state="retired")
    released = votes_among(read_answers(render_judgments(judgment_rows([round], key="secret"), tmp_path, silent)))
    for votes in (votes_of(round), released):
        assert sorted(votes["control"]) == ["", "", "negative"]


def test_the_command_prints_workers_in_lines_and_confusions_as_json(round):
    answer(round.hits.get(), 1, 4)
    printed = output_of("aggregate", "round-1", "--workers", "--method", "ordinal")
    assert re.search(r"worker +votes +agreement.*\n  \w+ +2 +1\.0 ", printed)
    (worker,) = figures_printed("aggregate", "round-1", "--workers")["workers"]
    assert worker["confusion"] == [[1, 0, 0, 0], [None] * 4, [None] * 4, [0, 0, 0, 1]]


def test_consensus_hears_the_annotators_of_the_pool():
    judged = make_round(hits=15, candidates=4)
    pairs = []
    for hit in judged.hits.all():
        answer(hit, 1, 2, 3, 4)
        pairs += candidates(hit)
    propose(judged, pairs, make_annotator("words"))
    (member,) = aggregate_round(judged, method="consensus")["annotators"]
    assert (member["annotator"], member["direction"], member["pairs"]) == ("words", "i2t", 60)


def test_the_number_of_queries_does_not_grow_with_the_round(django_assert_max_num_queries):
    large = make_round(hits=12, candidates=4)
    for hit in large.hits.all():
        answer(hit, 1, 2, 3, 4)
    with django_assert_max_num_queries(28):
        aggregate_round(large)
