import json
from datetime import timedelta
from functools import partial

import numpy as np
import pytest
from django.core.management import CommandError

from annotation.models import Assignment, Judgment
from core.errors import CounterpartError
from evaluation.live_effect import EffectParameters, measure_effect
from hits.models import Item, Round
from mitl.models import Direction, Retrieval
from mitl.search.gallery import load_lists
from tests.commands import output_of
from tests.evaluation.registering import register_in_order
from tests.evaluation.worlds import NAMES, START, judge, judge_all, known_round, level_of
from tests.factories import make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round() -> Round:
    return known_round()


stopping = partial(output_of, "analyse", "stopping")


def slow_score(name: str, depth: int, worth: dict[int, float]) -> float:
    """The share of the first items that match, counted from the rows, mean over both directions."""
    retrieval = Retrieval.objects.get(annotator__name=name)
    images, captions = retrieval.collection.images.in_bulk(), retrieval.collection.captions.in_bulk()
    shares = []
    for direction, ranked in load_lists(retrieval).items():
        total = 0.0
        for query, items in zip(ranked.queries.tolist(), ranked.items.tolist(), strict=True):
            for item in items[:depth]:
                image, caption = (query, item) if direction == Direction.IMAGE_TO_CAPTION else (item, query)
                total += worth.get(level_of(images[image], captions[caption]), 0.0)
        shares.append(total / len(ranked.queries) / depth)
    return sum(shares) / len(shares)


@pytest.mark.slow
def test_a_finished_round_has_the_scores_counted_from_the_rows(round):
    judge_all(round)
    for positive, worth, depth in (
        ("lenient", {1: 1.0, 2: 1.0}, 1),
        ("strict", {1: 1.0}, 1),
        ("graded", {1: 1.0, 2: 0.5}, 2),
    ):
        effect = measure_effect(round, EffectParameters(positive=positive, depth=depth))
        assert effect.models == NAMES
        np.testing.assert_allclose(effect.last.look.scores, [slow_score(name, depth, worth) for name in NAMES])
        np.testing.assert_allclose(effect.last.look.high - effect.last.look.low, 0, atol=1e-9)
        assert effect.is_settled
        assert effect.unpooled == pytest.approx(0)


def test_hits_count_in_packing_order_and_a_gap_holds_back_what_comes_later(round):
    hits = list(round.hits.order_by("number"))
    for hit in (*hits[:4], *hits[5:9]):
        judge(hit)
    effect = measure_effect(round)
    assert effect.last.look.hits == 4
    assert effect.waiting == 4
    assert not effect.is_settled
    judge(hits[4])
    after = measure_effect(round)
    assert (after.last.look.hits, after.waiting) == (9, 0)


@pytest.mark.slow
def test_intervals_narrow_as_judgments_arrive_and_hold_the_last_score(round):
    judge_all(round)
    moments = measure_effect(round).looks
    widths = [moment.look.high - moment.look.low for moment in moments]
    assert all((after <= before + 1e-9).all() for before, after in zip(widths, widths[1:], strict=False))
    last = moments[-1].look.scores
    assert all((one.look.low <= last + 1e-9).all() and (one.look.high >= last - 1e-9).all() for one in moments)
    assert moments[0].tau is None
    assert all(-1 <= moment.tau <= 1 for moment in moments[1:] if moment.tau is not None)


def test_hits_of_which_no_picture_did_load_are_looked_at_with_the_next_ones():
    made = known_round()
    first, second = made.hits.order_by("number")[:2]
    judge(second)
    skipped = judge(first)
    Judgment.objects.filter(assignment=skipped).delete()
    assert [moment.look.hits for moment in measure_effect(made, EffectParameters(looks=2)).looks] == [2]


def test_a_hit_counts_only_when_every_seat_is_filled():
    made = known_round(replication=2)
    first, second = made.hits.order_by("number")[:2]
    for hit in (first, second):
        judge(hit, seat=1)
    assert measure_effect(made).last is None
    judge(first, seat=2)
    assert measure_effect(made).last.look.hits == 1


def test_votes_that_do_not_count_open_their_hit_again(round):
    judged = [judge(hit) for hit in round.hits.order_by("number")[:3]]
    Assignment.objects.filter(pk=judged[1].pk).update(state="excluded")
    judged[1].seat.state = "open"
    judged[1].seat.save()
    assert measure_effect(round).last.look.hits == 1


@pytest.mark.slow
def test_a_replay_gives_where_the_round_could_have_stopped_and_what_that_saves(round):
    judge_all(round)
    for done in Assignment.objects.select_related("hit"):
        leased = START + timedelta(minutes=done.hit.number - 1, seconds=-30)
        Assignment.objects.filter(pk=done.pk).update(leased_at=leased)
    effect = measure_effect(round, EffectParameters(margin=0.5, looks=100))
    stop = effect.settled_at
    assert 1 < stop.look.hits < effect.units
    assert stop.at == START + timedelta(minutes=stop.look.hits - 1)
    saved = effect.saving
    assert saved.answer_sets == saved.hits == effect.units - stop.look.hits
    assert saved.dollars == round.seat_cost * saved.answer_sets
    # Nothing before that look would have been settled.
    assert not any(moment.is_settled for moment in effect.looks if moment.look.hits < stop.look.hits)


@pytest.mark.slow
def test_other_methods_are_given_only_the_votes_of_the_hits_that_count(round):
    judge_all(round)
    some = measure_effect(round, EffectParameters(method="dawid-skene", looks=2))
    half = some.looks[0].look.hits
    later = Judgment.objects.filter(item__hit__number__gt=half)
    later.update(level=3)
    again = measure_effect(round, EffectParameters(method="dawid-skene", looks=2))
    np.testing.assert_allclose(some.looks[0].look.scores, again.looks[0].look.scores)
    assert not np.allclose(some.looks[1].look.scores, again.looks[1].look.scores)


@pytest.mark.slow
def test_the_command_prints_the_ranking_and_writes_rows(round, tmp_path):
    judge_all(round)
    printed = stopping("round-1", "--csv", tmp_path / "looks.csv", "--plot", tmp_path / "looks.svg")
    assert printed.startswith("The ranking of round round-1 is settled")
    round.refresh_from_db()
    assert round.state == "open"  # nothing is closed by looking
    figures = json.loads(stopping("round-1", "--json"))
    assert figures["settled"] is True
    assert figures["hits"] == figures["hits_counted"] == round.hits.count()
    assert {one["model"] for one in figures["looks"][-1]["models"]} == set(NAMES)
    assert (tmp_path / "looks.csv").read_text().count("\n") == 1 + 3 * len(figures["looks"])


@pytest.mark.slow
def test_check_ends_with_an_error_while_the_ranking_is_open(round):
    with pytest.raises(CommandError, match="open: HIT 1 is not judged"):
        stopping("round-1", "--check")
    judge(round.hits.get(number=1))
    with pytest.raises(CommandError, match="is open after 1 HIT: "):
        stopping("round-1", "--check")
    for hit in round.hits.filter(number__gt=1):
        judge(hit)
    assert "settled" in stopping("round-1", "--check")


@pytest.mark.slow
def test_registered_runs_are_ranked_with_the_annotators(round, tmp_path):
    collection = round.pool.collection
    register_in_order(collection, tmp_path, "naive")
    judge_all(round)
    effect = measure_effect(round)
    assert effect.models == (*NAMES, "naive")
    # It ranks the first caption and the first image first, for every query; few of those pairs are in the pool.
    captions, images = collection.captions.order_by("pk"), collection.images.order_by("pk")
    first = [(image.pk, captions[0].pk) for image in images] + [(images[0].pk, caption.pk) for caption in captions]
    asked = set(Item.objects.filter(hit__round=round, control=None).values_list("image_id", "caption_id"))
    assert effect.unpooled[3] == pytest.approx(np.mean([pair not in asked for pair in first]))


def test_bad_settings_are_refused(round):
    for changes, message in (
        ({"depth": 3}, "the pool holds the first 2 items"),
        ({"looks": 0}, "Invalid looks 0"),
        ({"places": 0}, "Invalid places 0"),
        ({"margin": 2.0}, "Invalid margin 2.0"),
        ({"confidence": 1.0}, "Invalid confidence 1.0"),
    ):
        with pytest.raises(CounterpartError, match=message):
            measure_effect(round, EffectParameters(**changes))


def test_a_round_with_a_single_model_has_no_ranking():
    with pytest.raises(CounterpartError, match="ranks 0 models"):
        measure_effect(make_round(hits=2))


def test_of_an_audit_its_estimates_are_asked_for(db):
    made = known_round(judge="audit", audit_share=0.5)
    judge(made.hits.first())
    with pytest.raises(CounterpartError, match="is an audit: .*analyse live"):
        measure_effect(made)
