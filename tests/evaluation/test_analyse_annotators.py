import pytest
from django.core.management import CommandError

from corpus.models import Match
from counterpart_metrics import coverage
from hits.models import Round
from mitl.models import Annotator
from tests.annotation.cast import answer, associate, candidates, propose
from tests.dataset.releasing import release
from tests.dataset.reviewing import another_person, give_level
from tests.evaluation.analysing import analyse, figures_of
from tests.factories import make_annotator, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotators() -> list[Annotator]:
    return [make_annotator("words"), make_annotator("shapes")]


@pytest.fixture
def judged(annotators) -> Round:
    """Four pairs with levels 1, 2, 3, 4. ``words`` proposed the first three image → captions, ``shapes`` the last
    three caption → images, the best first."""
    made = make_round(hits=1, candidates=4)
    answer(made.hits.get(), 1, 2, 3, 4)
    pairs = candidates(made.hits.get())
    propose(made, pairs[:3], annotators[0])
    propose(made, pairs[1:], annotators[1], direction="t2i")
    return made


def ranked(figures: dict, name: str, rank: object, direction: str = "all") -> dict:
    rows = figures["by_rank"]
    (found,) = [row for row in rows if (row["name"], row["rank"], row["direction"]) == (name, rank, direction)]
    return found


def alone(figures: dict) -> dict[str, dict]:
    return {row["name"]: row for row in figures["unique"]}


def covered(*arguments: str) -> dict[tuple[str, str], dict]:
    rows = figures_of("annotators", *(arguments or ["round-1"]))["coverage"]
    return {(row["name"], row["direction"]): row for row in rows}


def test_proposals_are_counted_by_rank_and_matches_that_one_annotator_alone_found(judged):
    figures = figures_of("annotators", "round-1")
    assert [ranked(figures, "words", 1)[f"share_{level}"] for level in (1, 2, 3, 4)] == [1, 0, 0, 0]
    matches = [ranked(figures, "words", rank)["matches"] for rank in (1, 2, 3, "all")]
    assert matches == [1, 1, 0, pytest.approx(2 / 3)]
    every = ranked(figures, "shapes", "all", "t2i")
    assert every["proposals"] == 3
    assert [every[f"share_{level}"] for level in (1, 2, 3, 4)] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])
    words, shapes = alone(figures)["words"], alone(figures)["shapes"]
    assert (words["pairs"], words["found"], words["found_share"], words["unique"]) == (3, 2, 1, 1)
    assert (shapes["found"], shapes["unique"], shapes["unique_share"]) == (1, 0, 0)


def test_a_pair_proposed_in_both_directions_counts_once_among_the_matches(judged, annotators):
    propose(judged, candidates(judged.hits.get())[:1], annotators[0], direction="t2i")
    figures = figures_of("annotators", "round-1")
    assert (alone(figures)["words"]["pairs"], alone(figures)["words"]["unique"]) == (3, 1)
    assert ranked(figures, "words", 1)["proposals"] == 2


def test_precision_and_recall_of_annotators_follow_the_definition(judged):
    pairs = candidates(judged.hits.get())
    verified = {image: {caption} for image, caption in pairs[:2]}
    expected = coverage({image: {caption} for image, caption in pairs[:3]}, verified)
    every = covered()
    found = every["words", "i2t"]
    assert (found["precision"], found["recall"]) == (pytest.approx(expected.precision), pytest.approx(expected.recall))
    assert (found["positives"], found["verified"], found["kind"]) == (3, 2, "annotator")
    # Its queries were images only.
    assert (every["words", "t2i"]["positives"], every["words", "t2i"]["recall"]) == (0, 0)


def test_unjudged_pairs_of_a_source_are_wrong_or_left_out(judged):
    pairs = candidates(judged.hits.get())
    associate(judged.pool.collection, "expert", [pairs[0], pairs[3]])
    unjudged = Match.objects.filter(source="original").values_list("image_id", "caption_id")
    other = next(pair for pair in unjudged if pair[0] == pairs[0][0])
    associate(judged.pool.collection, "expert", [other])
    every = covered()
    found = every["expert", "i2t"]
    # Of image 0 one pair verified and one unjudged, of image 3 one wrong.
    assert found["precision"] == pytest.approx((1 / 2 + 0) / 2)
    assert found["precision_judged"] == pytest.approx((1 + 0) / 2)
    assert found["recall"] == pytest.approx((1 + 0) / 2)
    assert every["original", "i2t"]["precision_judged"] is None


def test_a_threshold_chooses_the_positives_of_a_source(judged):
    pairs = candidates(judged.hits.get())
    for pair, score in zip(pairs, (5, 2, 4, 1), strict=True):
        associate(judged.pool.collection, "cxc", [pair], score=score)
    associate(judged.pool.collection, "graded", pairs[:1], grade=1)
    associate(judged.pool.collection, "graded", pairs[3:], grade=4)
    every = covered()
    assert ("cxc", "i2t") not in every
    assert every["graded", "i2t"]["positives"] == 1
    found = covered("round-1", "--sources", "cxc>=3")
    assert found["cxc>=3", "i2t"]["positives"] == 2
    assert found["cxc>=3", "i2t"]["precision"] == 0.5
    assert ("graded", "i2t") not in found


def test_a_version_gives_its_released_levels_with_reviews(judged):
    give_level(judged, candidates(judged.hits.get())[2], 1, by=another_person())
    release(judged)
    assert alone(figures_of("annotators", "--version", "v1"))["words"]["found"] == 3
    live = figures_of("annotators", "round-1")
    assert alone(live)["words"]["found"] == 2
    assert "v1" not in {row["name"] for row in live["coverage"]}


def test_unknown_sources_and_rounds_without_proposals_are_refused(judged):
    with pytest.raises(CommandError, match="moon; it has original"):
        analyse("annotators", "round-1", "--sources", "moon")
    bare = make_round(judged.pool.collection, "round-2", hits=1, candidates=2)
    answer(bare.hits.get(), 1, 4)
    with pytest.raises(CommandError, match="round-2 has no proposals"):
        analyse("annotators", "round-2")
