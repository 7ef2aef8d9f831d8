"""Replays with fewer votes, other methods of aggregation and reviews; the figures of a policy, and the command."""

import json
from functools import partial

import numpy as np
import pytest

from core.errors import CounterpartError
from counterpart_statistics.aggregation import conclude
from counterpart_statistics.selection.drawn_votes import draw_votes, matches_in
from evaluation.designing.finished_rounds import FinishedRound
from evaluation.designing.what_if import WhatIfParameters, what_if
from evaluation.scores.scoring import evaluate_version
from tests.annotation.cast import answer
from tests.commands import output_of
from tests.dataset.releasing import release
from tests.dataset.reviewing import give_level
from tests.evaluation.worlds import SMALL, known_pool, level_of, published
from tests.factories import make_worker
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


def said(item, number):
    """What a worker says: every third one is often wrong, the others seldom."""
    right = level_of(item.image, item.caption)
    is_wrong = (int(item.image.key) + 2 * int(item.caption.key) + number) % 4 < (3 if number % 3 == 2 else 1)
    return 5 - right if is_wrong else right


@pytest.fixture(scope="module")
def finished(lasting):
    """Three votes a pair, of the first workers who may do the HIT: no worker has a pair twice, as a control or not."""
    made = published(pack("all", known_pool(), design=SMALL, seed=4, reward="2.00", replication=3))
    workers = [(number, make_worker(), set()) for number in range(60)]
    for hit in made.hits.all():
        shown = set(hit.items.values_list("image", "caption"))
        free = [one for one in workers if not one[2] & shown]
        items = hit.items.filter(control=None).order_by("place").select_related("image", "caption")
        for seat, (number, worker, seen) in enumerate(free[:3], 1):
            answer(hit, *(said(item, number) for item in items), seat=seat, worker=worker)
            seen |= shown
    return FinishedRound.of(made)


def single_votes(finished):
    """Return a function of the seed: one vote of each candidate."""
    return lambda seed: draw_votes(finished.votes, 1, seed).query("control == ''")


def test_votes_are_drawn_pair_by_pair_and_those_on_controls_stay(finished):
    everything = finished.votes.set_index(["code", "control", "worker"])["level"]
    drawn = draw_votes(finished.votes, 2, seed=0)
    candidates = drawn[drawn["control"] == ""]
    assert set(candidates.groupby("code").size()) == {2}
    assert len(candidates) == 2 * len(finished.asked)
    kept = drawn.set_index(["code", "control", "worker"])["level"]
    assert (everything.loc[kept.index] == kept).all()
    assert (drawn["control"] != "").sum() == (finished.votes["control"] != "").sum()
    code = candidates["code"].iloc[0]
    draws = [one.loc[one["code"] == code, "worker"].item() for one in map(single_votes(finished), range(60))]
    assert [draws.count(worker) for worker in set(draws)] == pytest.approx([20, 20, 20], abs=10)
    assert draw_votes(finished.votes, 2, seed=0).equals(drawn)


def test_a_single_vote_a_pair_is_its_verdict_and_costs_a_third(finished):
    (one,) = what_if(finished, WhatIfParameters(judge="all", replication=1, replays=1, seed=7))["all"]
    votes = single_votes(finished)(7)
    free = np.setdiff1d(finished.asked, np.concatenate([w.queries.codes[w.queries.asked] for w in finished.wholes]))
    matches = set(votes[votes["level"] <= 2]["code"]) - set(free.tolist())
    assert one.matches == len(matches)
    truth = set(finished.matches.tolist())
    assert one.recall == len(matches & truth) / len(truth) < 1
    assert (one.judgments, one.hits) == (finished.judgments / 3, finished.hits)
    assert one.cost == finished.cost / 3


@pytest.mark.parametrize("method", ["dawid-skene", "consensus"])
def test_another_aggregation_counts_what_a_version_with_it_counts(finished, method):
    (one,) = what_if(finished, WhatIfParameters(judge="all", aggregation=method))["all"]
    version = release(finished.round, method=method)
    scores = {
        (one.model, direction): figures["mAP@R"].value
        for one in evaluate_version(version)
        for direction, figures in one.figures.items()
    }
    of_map = [score for score in one.scores if score.metric == "mAP@R"]
    assert len(of_map) == len(scores) == 6
    for score in of_map:
        assert score.counted == pytest.approx(scores[score.model, score.direction], abs=1e-12)
    if method == "dawid-skene":
        assert any(score.counted != score.full for score in of_map)


def test_another_aggregation_of_an_audit_hears_the_votes_that_it_asked_alone(finished):
    given = WhatIfParameters(judge="audit", audit_share=0.3, aggregation="dawid-skene", replays=1)
    (one,) = what_if(finished, given)["audit"]
    votes = finished.votes[finished.votes["code"].isin(one.packed[0]) | (finished.votes["control"] != "")]
    verdicts = conclude(votes, method="dawid-skene")
    judged = set(map(tuple, verdicts.loc[verdicts["level"] <= 2, ["image", "caption"]].to_numpy().tolist()))
    original = finished.round.pool.collection.matches.filter(source="original")
    known = set(original.values_list("image__key", "caption__key"))
    assert one.matches == len(judged - known)
    assert one.matches < len(finished.matches)


def test_a_level_that_a_reviewer_gave_stays_whatever_votes_are_drawn(finished, person):
    code = int(finished.matches[0])
    give_level(finished.round, (code >> 32, code & 0xFFFFFFFF), 4, by=person)
    again = FinishedRound.of(finished.round)
    assert set(finished.matches.tolist()) - set(again.matches.tolist()) == {code}
    for votes in (draw_votes(again.votes, 1, seed=0), again.votes):
        assert code not in matches_in(again.deciding(again.wholes, votes, "majority", 0))


def test_the_round_has_no_more_votes_than_it_asked(finished):
    with pytest.raises(CounterpartError, match="asks 3 answer sets .* draw 4"):
        what_if(finished, WhatIfParameters(replication=4))


run = partial(output_of, "plan", "all", "--replay")


def test_the_command_sets_all_policies_side_by_side(finished):
    figures = json.loads(run("--audit-share", "0.5", "--replays", "2", "--json"))
    assert figures["as_run"]["judgments"] == finished.judgments
    assert [one["judge"] for one in figures["policies"]] == ["all", "first-hits", "audit", "audit+greedy"]
    everything, first, audit, greedy = figures["policies"]
    assert everything["recall"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert everything["cost"]["mean"] == float(finished.cost)
    assert max(one["bias"]["mean"] for one in everything["effects"]) == pytest.approx(0, abs=1e-12)
    assert {one["kind"] for one in first["effects"]} == {"counted"}
    assert audit["pairs"]["low"] <= audit["pairs"]["mean"] < greedy["pairs"]["mean"] <= everything["pairs"]["mean"]
    assert audit["recall"]["mean"] < greedy["recall"]["mean"]
    assert greedy["recall_low"]["mean"] <= greedy["estimated_recall"]["mean"] <= greedy["recall_high"]["mean"]
    assert (greedy["question"], greedy["level"], everything["estimated_recall"]["mean"]) == ("these", 0.95, None)
    assert greedy["scores"][0]["guarded"] is not None
    text = run("--audit-share", "0.5", "--replays", "2")
    assert text.startswith(f"Round all as it was run: {finished.judgments} judgments")
    assert "2 replays from seed 0" in text
    assert text.count("audit+greedy") == 2 * (1 + 2 * 3)  # mAP@R, both directions; both tables go on below
