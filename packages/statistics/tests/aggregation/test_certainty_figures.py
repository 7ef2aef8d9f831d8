"""The figures of a round's certainty: what they count, where they say nothing, and which verdicts get a percentage."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from counterpart_statistics.aggregation import certainty_of, shows_percentage
from counterpart_statistics.aggregation.sorted_votes import read_votes
from crowds import Round, certainty, draw_round, drawn


def test_figures_count_sets_controls_and_verdicts():
    round = drawn(7)
    figures = certainty(7).figures
    failed = int((~round.answers.counted).sum())
    assert (figures["verdicts"], figures["several"], figures["reviewed"]) == (480, 0, 0)
    assert (figures["sets"], figures["uncounted"], figures["workers"]) == (30 + failed, failed, 18)
    assert figures["controls"] == figures["control_answers"] == 2 * figures["sets"]
    match = certainty(7).rows.read()
    assert figures["expected_wrong"] == pytest.approx(np.minimum(match, 1 - match).sum(), abs=0.01)
    assert figures["right_low"] <= figures["right"] <= figures["right_high"]
    assert figures["wrong_low"] <= figures["expected_wrong"] <= figures["wrong_high"]


def test_only_kept_verdicts_are_counted():
    round = drawn(7)
    found = certainty_of(round.votes, round.answers, kept=lambda batch: batch.rows["code"] < 100)
    assert found.figures["verdicts"] == 100


def silence(round: Round, given=None) -> str:
    figures = certainty_of(round.votes, round.answers if given is None else given).figures
    said = [figures[name] for name in ("right", "right_low", "right_high", "expected_wrong", "wrong_low", "wrong_high")]
    assert {one is None for one in said} == {bool(figures["silent"])}
    assert shows_percentage(figures, 5) == (not figures["silent"])
    return figures["silent"]


def test_nothing_is_said_by_few_sets_workers_or_controls():
    given = drawn(7).answers
    assert silence(drawn(7)) == ""
    assert "12 different ones; 30 are needed" in silence(drawn(7), replace(given, control=given.control % 12))
    assert "workers to say (9; 10" in silence(drawn(7), replace(given, worker=given.worker % 9))
    assert "answer sets to say (" in silence(drawn(7, items=160, careless=0))


def test_nothing_is_said_where_no_control_was_answered_wrong_and_they_are_few():
    assert "48 answers to controls are too few" in silence(draw_round(1, items=384, careless=0).without_failed)


def test_nothing_is_said_of_votes_without_sets_or_without_controls():
    round = drawn(7)
    lone = certainty_of(read_votes(round.labels.drop(columns="set"), levels=(1, 2, 3, 4))).figures
    assert "without answer sets" in lone["silent"]
    outside = round.labels.assign(set=round.answers.worker.size, worker=99, item=lambda table: table["item"] + 1_000)
    both = replace(round, labels=pd.concat([round.labels, outside.head(200)]))
    old = round.answers
    given = replace(old, worker=np.append(old.worker, 20), counted=np.append(old.counted, True))
    assert "200 of 680 votes" in silence(both, given)


def test_nothing_is_said_by_a_range_too_wide():
    # Most workers guess, and 20 counted sets are few.
    assert "too wide a range" in silence(drawn(2, careless=0.8, workers=12, items=320))


def test_a_lone_vote_has_a_percentage_only_with_pairs_of_several_or_reviews():
    figures = {"silent": "", "several": 0, "reviewed": 0}
    assert [shows_percentage(figures, votes) for votes in (1, 2)] == [False, True]
    assert shows_percentage({**figures, "several": 60}, 1)
    assert shows_percentage({**figures, "reviewed": 30}, 1)
    assert not shows_percentage({"found": 0.9, "refused": 0.9, "temperature": 1.0}, 3)
    assert not shows_percentage(None, 3)
