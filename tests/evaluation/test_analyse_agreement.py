import numpy as np
import pytest
from django.core.management import CommandError

from annotation.models import Judgment, Worker
from corpus.models import Caption, Collection
from counterpart_annotators.words import bleu_1, rouge_1
from counterpart_statistics.agreement import cohen_kappa, krippendorff_alpha
from dataset.reviews.reviews import undo
from hits.models import Control, Round
from hits.question import Level
from mitl.models import Proposal
from tests.annotation.cast import answer, associate, candidates, propose
from tests.dataset.releasing import release
from tests.dataset.reviewing import another_person, give_level
from tests.evaluation.analysing import analyse, figures_of, table_of
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db

# Levels of four pairs by three workers.
VOTES = [(1, 2, 4, 3), (1, 1, 4, 2), (1, 2, 3, 4)]


@pytest.fixture
def judged() -> Round:
    """One HIT of four pairs, judged three times."""
    made = make_round(hits=1, candidates=4, replication=3)
    for seat, levels in enumerate(VOTES, 1):
        answer(made.hits.get(), *levels, seat=seat)
    return made


def compared(*arguments: str) -> dict[tuple[str, str, str, str], dict]:
    """The rows by what was compared with, of what, the scale and the measure."""
    rows = figures_of("agreement", *arguments)["agreement"]
    return {(row["with"], row["of"], row["scale"], row["measure"]): row for row in rows}


def between(name: str, found: dict, scale: str = "four levels") -> dict:
    return found["workers", "judgments", scale, name]


def pairs_of(made: Round) -> list[tuple[int, int]]:
    return candidates(made.hits.get())


def test_alpha_between_workers_is_that_of_their_ratings_and_agreement_is_given_by_level_and_polarity(judged):
    found = compared("round-1", "--with", "workers")
    ratings = np.array(VOTES, float).T
    for level in ("nominal", "ordinal", "interval"):
        row = between(f"alpha, {level}", found)
        assert row["value"] == pytest.approx(krippendorff_alpha(ratings, level))
        assert (row["pairs"], row["judgments"]) == (4, 12)
    binary = between("alpha, nominal", found, "match or not")
    assert binary["value"] == pytest.approx(krippendorff_alpha(ratings <= 2, "nominal"))
    # Of the six ordered pairs of answers, (1, 1, 1) has 6 equal ones, (2, 1, 2) and (4, 4, 3) have 2, (3, 2, 4) none.
    assert between("same answer", found)["value"] == pytest.approx(10 / 24)
    assert between(f"same answer, if one says {Level.YES.label}", found)["value"] == pytest.approx(6 / 8)
    # As matches: the first three pairs are unanimous; of the last one answer of three is a match.
    assert between("same answer, if one says match", found, "match or not")["value"] == pytest.approx(12 / 14)
    assert between("same answer, if one says no match", found, "match or not")["value"] == pytest.approx(8 / 10)


def test_intervals_hold_their_figure_and_follow_the_seed(judged):
    row = between("alpha, interval", compared("round-1", "--with", "workers"))
    assert row["low"] <= row["value"] <= row["high"]
    few = ("round-1", "--samples", "6", "--seed")
    first, again, other = (between("alpha, interval", compared(*few, seed)) for seed in ("0", "0", "1"))
    assert first == again != other


def test_answers_that_do_not_count_are_left_out_and_counted(judged):
    Round.objects.update(replication=4)
    judged.hits.get().seats.create(round=judged, number=4)
    before = compared("round-1", "--with", "workers")
    answer(judged.hits.get(), 4, 4, 1, 1, seat=4, state="excluded")
    assert compared("round-1", "--with", "workers") == before
    assert "24 answers, of which 6" in analyse("agreement", "round-1")


def test_reviews_are_compared_with_the_majority_and_with_each_judgment(judged):
    person, pairs = another_person(), pairs_of(judged)
    give_level(judged, pairs[0], 1, by=person)
    give_level(judged, pairs[2], 4, by=person)
    give_level(judged, pairs[3], 1, by=person)
    found = compared("round-1", "--with", "reviews")
    # Majorities 1, 4, 3 against 1, 4, 1.
    same = found["reviews", "majority", "four levels", "same answer"]
    assert (same["value"], same["pairs"]) == (pytest.approx(2 / 3), 3)
    assert found["reviews", "majority", "match or not", "kappa"]["value"] == pytest.approx(0.4)
    votes = found["reviews", "judgments", "four levels", "same answer"]
    assert (votes["value"], votes["judgments"]) == (pytest.approx(5 / 9), 9)
    assert found["reviews", "judgments", "match or not", "same answer, match"]["value"] == pytest.approx(4 / 6)
    assert found["reviews", "judgments", "four levels", f"same answer, {Level.YES.label}"]["value"] == 0.5


def test_a_review_that_was_undone_is_compared_with_nothing(judged):
    person, pairs = another_person(), pairs_of(judged)
    done = give_level(judged, pairs[0], 1, by=person)
    give_level(judged, pairs[2], 4, by=person)
    undo([done], by=person)
    assert compared("round-1", "--with", "reviews")["reviews", "majority", "four levels", "same answer"]["pairs"] == 1


def test_controls_are_compared_by_polarity_and_retired_ones_left_out(judged):
    negative = judged.hits.get().items.get(control__polarity=Control.Polarity.NEGATIVE)
    Judgment.objects.filter(pk=negative.judgments.first().pk).update(level=1)
    found = compared("round-1", "--with", "controls")
    assert found["controls", "judgments", "match or not", "same answer"]["value"] == pytest.approx(5 / 6)
    assert found["controls", "judgments", "match or not", "same answer, match"]["value"] == 1
    assert found["controls", "judgments", "match or not", "same answer, no match"]["value"] == pytest.approx(2 / 3)
    Control.objects.filter(polarity=Control.Polarity.NEGATIVE).update(state=Control.State.RETIRED)
    found = compared("round-1", "--with", "controls")
    assert found["controls", "judgments", "match or not", "same answer"]["pairs"] == 1


def test_a_source_with_grades_is_compared_on_four_levels(judged):
    pairs = pairs_of(judged)
    for pair, grade in zip(pairs, (1, 2, 4), strict=False):
        associate(judged.pool.collection, "expert", [pair], grade=grade)
    found = compared("round-1", "--with", "expert")
    row = found["expert", "majority", "four levels", "same answer"]
    assert (row["value"], row["pairs"]) == (1, 3)
    assert found["expert", "majority", "four levels", "kappa, quadratic weights"]["value"] == 1


def test_kappa_with_a_source_that_holds_only_matches_is_undefined_and_says_why(judged):
    associate(judged.pool.collection, "positives", pairs_of(judged))
    found = compared("round-1", "--with", "positives")
    row = found["positives", "majority", "match or not", "kappa"]
    assert (row["value"], row["low"], row["high"]) == (None, None, None)
    assert "positives give every pair" in row["reason"]
    same = found["positives", "majority", "match or not", "same answer"]
    assert (same["value"], same["reason"]) == (0.5, None)
    assert "0.000 to 0.000" not in analyse("agreement", "round-1", "--with", "positives")


def test_alpha_of_votes_that_are_all_equal_is_undefined_and_says_why():
    made = make_round(hits=1, candidates=2, replication=2)
    for seat in (1, 2):
        answer(made.hits.get(), 1, 1, seat=seat)
    row = between("alpha, ordinal", compared("round-1"))
    assert (row["value"], row["low"]) == (None, None)
    assert row["reason"] == "all votes on pairs with two or more are equal"


def test_a_condition_makes_matches_of_scores(judged):
    pairs = pairs_of(judged)
    for pair, score in zip(pairs, (5, 4, 1, 3.5), strict=True):
        associate(judged.pool.collection, "cxc", [pair], score=score)
    found = compared("round-1", "--with", "cxc>=3")
    # Majorities 1, 2, 4, 3: the last pair is a match by its score alone.
    assert found["cxc>=3", "majority", "match or not", "same answer"]["value"] == 0.75
    assert found["cxc>=3", "majority", "match or not", "same answer, no match"]["value"] == 1
    assert ("cxc>=3", "majority", "four levels", "kappa") not in found


def test_pairs_that_the_truth_of_a_drawn_collection_does_not_have_get_level_4(judged):
    associate(judged.pool.collection, "truth", pairs_of(judged)[:1], grade=1)
    assert compared("round-1", "--with", "truth")["truth", "majority", "match or not", "same answer"]["pairs"] == 1
    Collection.objects.update(drawn={"images": 8, "seed": 0})
    found = compared("round-1", "--with", "truth")
    assert found["truth", "majority", "match or not", "same answer"]["pairs"] == 4
    assert found["truth", "majority", "four levels", f"same answer, {Level.NO.label}"]["value"] == pytest.approx(1 / 3)


def test_an_annotator_says_match_of_what_it_proposed(judged):
    pairs, annotator = pairs_of(judged), make_annotator("words")
    propose(judged, [pairs[0], pairs[2]], annotator)
    found = compared("round-1")
    # Majorities 1, 2, 4, 3; proposed are the first, rightly, and the third.
    same = found["words", "majority", "match or not", "same answer"]
    assert (same["value"], same["pairs"]) == (0.5, 4)
    tau = found["words", "judgments", "match weight", "tau-b of its score, i2t"]
    assert (tau["value"], tau["pairs"], tau["low"]) == (1, 2, None)


def test_a_judging_annotator_says_match_by_its_score(judged):
    pairs, judge = pairs_of(judged), make_annotator("judge", "vlm")
    propose(judged, pairs[:3], judge)
    for pair, score in zip(pairs, (0.9, 0.3, 0.2), strict=False):
        Proposal.objects.filter(image=pair[0], caption=pair[1]).update(score=score)
    row = compared("round-1", "--with", "judge")["judge", "majority", "match or not", "same answer"]
    assert (row["value"], row["pairs"]) == (1, 3)


def test_a_released_version_gives_the_figures_of_its_round(judged):
    release(judged)
    assert compared("--version", "v1") == compared("round-1")


def test_two_rounds_are_analysed_together(judged):
    other = make_round(make_collection("farm", 8), "round-2", hits=1, candidates=4)
    answer(other.hits.get(), 1, 1, 1, 1)
    with pytest.raises(CommandError, match="2 collections: farm, zoo"):
        analyse("agreement", "round-1,round-2")
    third = make_round(judged.pool.collection, "round-3", hits=1, candidates=4)
    answer(third.hits.get(), 2, 2, 4, 3)
    row = between("alpha, interval", compared("round-1,round-3", "--with", "workers"))
    ratings = np.column_stack([np.array(VOTES, float).T, [2, 2, 4, 3]])
    assert row["value"] == pytest.approx(krippendorff_alpha(ratings, "interval"))


def test_one_judgment_a_pair_says_so_instead_of_a_table():
    made = make_round(hits=1, candidates=2)
    answer(made.hits.get(), 1, 4)
    shown = analyse("agreement", "round-1")
    assert "--replication 2" in shown
    assert "With controls" in shown
    with pytest.raises(CommandError, match="one judgment a pair only"):
        analyse("agreement", "round-1", "--with", "workers")


def test_the_table_the_csv_and_the_plot_are_written_and_name_no_worker(judged, tmp_path):
    shown = analyse("agreement", "round-1", "--csv", str(tmp_path / "a.csv"), "--plot", str(tmp_path / "a.svg"))
    assert "Between workers" in shown
    assert "95% interval" in shown
    rows = table_of(tmp_path / "a.csv")
    assert (
        float(rows[0]["value"]) == compared("round-1")["workers", "judgments", "four levels", "alpha, nominal"]["value"]
    )
    assert "alpha, ordinal" in (tmp_path / "a.svg").read_text()
    assert not any(worker.pseudonym in shown + (tmp_path / "a.csv").read_text() for worker in Worker.objects.all())


def test_bad_input_is_refused(judged):
    associate(judged.pool.collection, "cxc", pairs_of(judged)[:1], score=2.5)
    for arguments, message in (
        (["round-1", "--with", "dogs"], "dogs; it has cxc, original"),
        (["round-1", "--with", "cxc"], 'cxc has scores: name a threshold, as in "cxc>=3"'),
        (["round-1", "--with", "reviews"], "Round round-1 shares no pair with reviews"),
    ):
        with pytest.raises(CommandError, match=message):
            analyse("agreement", *arguments)


def test_a_round_without_counted_judgments_is_refused():
    made = make_round(hits=1, candidates=2)
    answer(made.hits.get(), 1, 4, state="flagged")
    for subject in ("agreement", "annotators", "reasons", "workers"):
        with pytest.raises(CommandError, match="judgments that count, of 4"):
            analyse(subject, "round-1")


def test_answers_of_check_boxes_are_a_scale_of_two_that_is_compared_as_match_or_not(judged):
    Round.objects.update(task="checkbox")
    Judgment.objects.filter(level=2).update(level=1)
    Judgment.objects.filter(level=3).update(level=4)
    give_level(judged, pairs_of(judged)[0], 1, by=another_person())
    found = compared("round-1", "--with", "workers,reviews")
    assert between("same answer, if one says ticked", found, "ticked or not")
    assert {key[2] for key in found if key[0] == "reviews"} == {"match or not"}
    assert "four levels" not in {key[2] for key in found}


def test_precision_and_f1_of_the_answers_are_measured_too(judged):
    associate(judged.pool.collection, "positives", pairs_of(judged)[:3], score=1)
    associate(judged.pool.collection, "positives", pairs_of(judged)[3:], score=0)
    found = compared("round-1", "--with", "positives")
    # Majorities 1, 2, 4, 3 against yes, yes, yes, no: of two found both are right, of three good two are found.
    assert found["positives", "majority", "match or not", "precision of the answers"]["value"] == 1
    assert found["positives", "majority", "match or not", "F1 of the answers"]["value"] == pytest.approx(0.8)


def test_scores_are_compared_with_the_overlap_of_words(judged):
    pairs = pairs_of(judged)
    for place, caption in enumerate(Caption.objects.order_by("pk")):
        Caption.objects.filter(pk=caption.pk).update(text=" ".join(["dog", "cat", "bird", "tree", "car"][place % 4 :]))
    captions = Caption.objects.order_by("pk").in_bulk()
    found = compared("round-1", "--with", "rouge-rest,bleu-rest")
    means = np.array([5 - np.mean(levels) for levels in zip(*VOTES, strict=True)])
    for name, score in (("rouge-rest", rouge_1), ("bleu-rest", bleu_1)):
        rest = [[c.text for c in captions.values() if c.image_id == image][1:] for image, _ in pairs]
        overlap = np.array([score(captions[c].text, texts) for (_, c), texts in zip(pairs, rest, strict=True)])
        rows = [row for key, row in found.items() if key[0] == name and key[2] == "score ≥ 3.67"]
        slow = [cohen_kappa(overlap >= tenth / 10, means > 3.6) for tenth in range(1, 11)]
        assert (rows[0]["value"], rows[0]["pairs"], rows[0]["judgments"]) == (pytest.approx(np.nanmax(slow)), 4, 12)
        assert rows[0]["measure"].startswith("kappa, overlap ≥ ")
    assert "With rouge-rest" in analyse("agreement", "round-1", "--with", "rouge-rest")


def test_first_captions_are_compared_with_those_of_one_annotator(judged):
    pairs = pairs_of(judged)
    propose(judged, pairs[:2], make_annotator("words"))
    propose(judged, [pairs[0], pairs[2]], make_annotator("other"))
    Proposal.objects.update(rank=1, direction="i2t")
    found = compared("round-1", "--with", "workers", "--firsts-against", "words")
    name = "first captions, against words"
    assert found[name, "words", "score", "mean"]["value"] == pytest.approx((4 + 10 / 3) / 2)
    assert found[name, "other", "score", "mean"]["value"] == pytest.approx((4 + 4 / 3) / 2)
    assert found[name, "other", "score ≥ 3.00", "share"]["value"] == 0.5
    assert found[name, "words", "score ≥ 3.00", "McNemar's p"]["value"] == 1
    assert {key[2] for key in found if key[0] == name} >= {"score", "bleu-all", "rouge-all"}
    with pytest.raises(
        CommandError, match="No first caption of dogs was judged. Annotators of Round round-1: other, words"
    ):
        analyse("agreement", "round-1", "--firsts-against", "dogs")
