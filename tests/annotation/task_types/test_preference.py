"""Preferences between rankings: the study's questions, its pages, and the strengths that its answers give."""

from collections import Counter, defaultdict

import pytest
from django.db.models import QuerySet

from annotation.models import Assignment, Judgment, Report
from annotation.work.answers import places_of
from core.errors import CounterpartError
from corpus.models import Match
from counterpart_metrics import map_at_r
from counterpart_statistics.preference import bradley_terry
from dataset.verdicts import aggregate_round
from evaluation.analyses.preference_analysis import wins_of
from hits.models import HIT, Item, Round
from hits.task_types.ranking_preference import SYSTEMS, made_rankings
from tests.annotation.answering import address, leased
from tests.annotation.task_types.rounds import make_study, study_pool
from tests.evaluation.analysing import analyse, figures_of
from tests.factories import make_assignment, make_worker
from tests.hits.pools import pack

STRENGTHS = {"A": 5, "B": 2, "C": 3, "D": 1.5, "E": 1}


@pytest.fixture(scope="module")
def study(lasting) -> Round:
    return make_study()


def test_the_five_rankings_have_the_map_at_r_of_the_paper():
    """For eight positives: 66.0, 12.5, 10.3 and 2.5; E has 0."""
    positives = list(range(8))
    found = {
        name: 100 * map_at_r(ranking, positives)
        for name, ranking in made_rankings(positives, list(range(100, 108))).items()
    }
    assert found == {
        name: pytest.approx(value, abs=0.05)
        for name, value in {"A": 66.0, "B": 12.5, "C": 10.3, "D": 2.5, "E": 0}.items()
    }


def test_forty_captions_are_asked_in_all_ten_pairs_eight_times_each(db, study):
    items = list(Item.objects.filter(hit__round=study))
    assert len(items) == 400
    assert study.hits.count() == 10
    assert study.replication * len(items) == 3200
    of_caption = defaultdict(Counter)
    for item in items:
        of_caption[item.caption_id][frozenset(item.content["systems"])] += 1
    assert len(of_caption) == 40
    assert all(len(pairs) == 10 and set(pairs.values()) == {1} for pairs in of_caption.values())
    assert all(
        HIT.objects.get(pk=hit).items.values("caption").distinct().count() == 40
        for hit in study.hits.values_list("pk", flat=True)
    )


def images_by_caption(rows: QuerySet) -> dict[int, set[int]]:
    found = defaultdict(set)
    for caption, image in rows.values_list("caption", "image"):
        found[caption].add(image)
    return found


def test_left_and_right_are_at_random_and_the_lists_are_those_of_their_systems(db, study):
    order = Counter()
    truth = images_by_caption(Match.objects.filter(source="truth", score=1))
    known = images_by_caption(Match.objects.all())
    proposed = images_by_caption(study.pool.proposals.all())
    for item in Item.objects.filter(hit__round=study):
        positives = truth[item.caption_id]
        assert 5 <= len(positives) <= 8
        for name, ranking in zip(item.content["systems"], item.content["rankings"], strict=True):
            assert len(set(ranking)) == len(ranking) == len(positives)
            assert not (set(ranking) - positives) & (known[item.caption_id] | proposed[item.caption_id])
            right = [rank for rank, image in enumerate(ranking, 1) if image in positives]
            everywhere = range(1, len(ranking) + 1)
            assert right == {"A": [*everywhere][1:], "B": [1], "C": [*everywhere][5:], "D": [5], "E": []}[name]
        order[item.content["systems"] == sorted(item.content["systems"])] += 1
    assert 150 < order[True] < 250


def test_the_same_seed_asks_the_same(db):
    pool = study_pool(name="seeds")
    hashes = [make_study(name, pool, seed=seed).plan_hash for name, seed in (("one", 3), ("two", 3), ("three", 4))]
    assert hashes[0] == hashes[1] != hashes[2]


def test_too_few_captions_and_a_missing_source_are_refused(db):
    pool = study_pool(captions=39, name="few")
    with pytest.raises(CounterpartError, match="truth has 39 captions"):
        make_study("few", pool)
    with pytest.raises(CounterpartError, match="name a match source"):
        pack("r", pool, task="preference")
    with pytest.raises(CounterpartError, match="the task levels needs none"):
        pack("r", pool, positives="truth")


def answer_all(made: Round) -> None:
    """Every seat prefers by STRENGTHS: of eight votes, as many as the shares of the two round to."""
    judgments = []
    for hit in made.hits.prefetch_related("items"):
        for number, seat in enumerate(hit.seats.order_by("number")):
            assignment = make_assignment(seat, make_worker())
            for item in hit.items.all():
                left, right = (STRENGTHS[name] for name in item.content["systems"])
                level = 1 if number < round(8 * left / (left + right)) else 2
                given = {"assignment": assignment, "worker": assignment.worker, "caption_id": item.caption_id}
                judgments.append(Judgment(item=item, level=level, **given))
    Judgment.objects.bulk_create(judgments)
    Assignment.objects.update(state=Assignment.State.ACCEPTED)


def test_the_preferences_give_the_strengths(db, study):
    answer_all(study)
    wins = wins_of(study)
    assert wins.sum() == 3200
    assert (wins + wins.T)[0, 1] == 320
    figures = figures_of("preference", "study")
    assert [row["system"] for row in figures["systems"]] == list(SYSTEMS)
    assert [row["strength"] for row in figures["systems"]] == pytest.approx(list(bradley_terry(wins)))
    found = {row["system"]: row["strength"] for row in figures["systems"]}
    assert sorted(found, key=found.get) == ["E", "D", "B", "C", "A"]
    assert "3,200 preferences" in analyse("preference", "study")
    with pytest.raises(CounterpartError, match="Use analyse preference"):
        aggregate_round(study)


def test_the_page_shows_both_lists_and_their_pictures(stranger, db):
    made = make_study("shown", study_pool(name="shown", pictures=True))
    assignment = leased(made)
    shown = stranger.get(address("task", assignment)).text
    item = Item.objects.get(pk=places_of(assignment)[1])
    pictures = sum(map(len, item.content["rankings"]))
    assert shown.count("/1/?n=") == 2 * pictures
    assert not any(f'"{name}"' in shown for name in SYSTEMS)
    picture = f"{address('picture', assignment, 1)}?n={pictures - 1}&size=320"
    assert stranger.get(picture).status_code == 200
    assert stranger.get(f"{address('picture', assignment, 1)}?n={pictures}&size=320").status_code == 404


def test_a_question_whose_picture_does_not_load_gets_a_report_and_no_preference(stranger, researcher, study, commit):
    assignment = leased(study)
    page = stranger.get(address("task", assignment)).text
    assert page.count("A picture does not load") == 40
    answers = {f"level-{place}": "1" for place in range(2, 41)} | {"level-1": "0"}
    with commit(execute=True):
        assert stranger.post(address("task", assignment), answers).status_code == 302
    assignment.refresh_from_db()
    report, item = Report.objects.get(), Item.objects.get(pk=places_of(assignment)[1])
    assert (report.problem, report.item, report.image, report.caption) == ("picture", item, None, item.caption)
    assert (assignment.state, Judgment.objects.count(), wins_of(study).sum()) == ("accepted", 39, 39)
    assert researcher.get(f"/review/{assignment.pk}/").text.count("picture did not load") == 1


def test_a_sentence_that_was_reported_in_one_question_can_be_reported_in_another(stranger, study):
    """Each HIT of the study asks about the same captions."""
    worker = make_worker()
    for hit in study.hits.all()[:2]:
        assignment = make_assignment(hit.seats.first(), worker)
        place = next(
            place for place, item in places_of(assignment).items() if item == hit.items.order_by("caption")[0].pk
        )
        assert "You reported this" not in stranger.get(address("task", assignment)).text
        assert stranger.post(address("draft", assignment), {f"problem-{place}": "text"}).json() == {"errors": {}}
        assert stranger.get(address("task", assignment)).text.count("You reported this") == 1
    assert Report.objects.values("caption").distinct().count() == 1
    assert Report.objects.count() == 2
