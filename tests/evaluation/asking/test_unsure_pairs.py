"""Further votes on pairs of which a greedy round is unsure: the probability after votes, and the HITs that follow."""

import numpy as np
import pytest

from annotation.models import Assignment, Judgment
from counterpart_statistics.aggregation.crowds import ControlAnswers, counted_rates
from dataset.judged.answer_tables import control_answers
from evaluation.asking import greedy_rounds
from evaluation.asking.greedy_rounds import ask_likely_matches, unsure_pairs
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Item, Round
from tests.evaluation.worlds import GREEDY, SMALL, judge_all, judge_last_top_up, known_pool, level_of, published
from tests.hits.pools import pack


@pytest.fixture(scope="module")
def judged(lasting):
    return judge_all(published(pack("greedy", known_pool(), **GREEDY, top_up=1))).pk


@pytest.fixture
def greedy(db, judged, monkeypatch):
    monkeypatch.setattr(greedy_rounds, "BATCH", 2)
    return Round.objects.get(pk=judged)


def accuracy_of(round):
    known = control_answers(round)
    return counted_rates(ControlAnswers.of(known, known[known["counted"]])[0])


def test_answer_sets_that_failed_a_control_and_do_not_count_make_the_votes_of_others_less_sure(greedy):
    before = accuracy_of(greedy)
    failed = list(Assignment.objects.filter(hit__round=greedy).order_by("-pk").values_list("pk", flat=True)[:4])
    Judgment.objects.filter(assignment__in=failed, item__control__polarity="positive").update(level=4)
    Assignment.objects.filter(pk__in=failed).update(state=Assignment.State.EXCLUDED, control_failures=1)
    assert all(now < then for now, then in zip(accuracy_of(greedy), before, strict=True))


def expected_pairs(round):
    """Pair by pair: those whose one right vote leaves a probability between 0.1 and 0.9 in one of their directions."""
    found, refused = accuracy_of(round)
    judged = Item.objects.filter(hit__round=round, control=None, judgments__isnull=False)
    votes = {(item.image_id, item.caption_id): level_of(item.image, item.caption) < 3 for item in judged}
    pairs = set()
    for whole in whole_queries(round):
        for place in zip(*np.nonzero(whole.queries.asked), strict=True):
            pair = divmod(int(whole.queries.codes[place]), 2**32)
            if pair in votes:
                p = whole.probability[place]
                match, other = (
                    (p * found, (1 - p) * (1 - refused)) if votes[pair] else (p * (1 - found), (1 - p) * refused)
                )
                if 0.1 < match / (match + other) < 0.9:
                    pairs.add(pair)
    return pairs


def asked(top_up):
    return set(Item.objects.filter(hit__top_up=top_up, control=None).values_list("image", "caption"))


def test_unsure_pairs_get_one_further_vote_before_the_next_batch_and_no_more_than_the_round_allows(greedy):
    unsure = expected_pairs(greedy)
    assert unsure_pairs(greedy) == unsure
    assert 0 < len(unsure) < Item.objects.filter(hit__round=greedy, control=None).count()
    added = ask_likely_matches(greedy, actor="reconciler")
    assert added == -(-len(unsure) // SMALL.candidates)
    votes = greedy.top_ups.get()
    assert votes.opened is None
    assert asked(votes) == unsure
    assert ask_likely_matches(greedy, actor="reconciler") == 0  # while seats are open
    judge_last_top_up(greedy)
    ask_likely_matches(greedy, actor="reconciler")
    batch = greedy.top_ups.last()
    assert (greedy.top_ups.count(), batch.opened is None) == (2, False)
    assert not asked(batch) & asked(votes)


def test_likely_matches_get_further_votes_by_the_same_rule_as_audited_pairs(greedy, monkeypatch):
    monkeypatch.setattr(greedy_rounds, "counted_rates", lambda _: (0.9, 0.9))
    for _ in range(2):
        ask_likely_matches(greedy, actor="reconciler")
        judge_last_top_up(greedy)
    batch = greedy.top_ups.last()
    once = asked(batch) | set(Item.objects.filter(hit__top_up=None, hit__round=greedy).values_list("image", "caption"))
    once -= asked(greedy.top_ups.first())
    unsure = unsure_pairs(greedy) & once
    assert unsure & asked(batch)
    ask_likely_matches(greedy, actor="reconciler")
    assert asked(greedy.top_ups.last()) == unsure


def test_a_round_without_further_votes_asks_the_next_batch_at_once(greedy):
    greedy.top_up = 0
    greedy.save()
    assert ask_likely_matches(greedy, actor="reconciler") == 2
    assert greedy.top_ups.get().opened is not None
