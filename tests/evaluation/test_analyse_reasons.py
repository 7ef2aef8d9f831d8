import pytest
from django.core.management import CommandError

from annotation.models import Assignment, Judgment
from hits.models import Round
from tests.annotation.cast import answer, candidates, propose
from tests.evaluation.analysing import analyse, figures_of, written
from tests.factories import make_annotator, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged() -> Round:
    """Four pairs at levels 2, 2, 3 and 1: a wrong colour, a wrong number, something that is not in the image."""
    made = make_round(hits=1, candidates=4, replication=2, reasons=True)
    work = answer(made.hits.get(), 2, 2, 3, 1)
    given = [("wrong_way", "color"), ("wrong_way", "quantity"), ("not_in_image", "")]
    for (image, caption), (shortcoming, wrong_way) in zip(candidates(made.hits.get()), given, strict=False):
        theirs = Judgment.objects.filter(assignment=work, image=image, caption=caption)
        theirs.update(shortcoming=shortcoming, wrong_way=wrong_way)
    return made


def shares(kind: str, by: str, group: str, rows: list[dict] | None = None) -> dict[str, float]:
    """Of the round's rows; ``rows`` spares reading them again."""
    rows = rows or figures_of("reasons", "round-1")["reasons"]
    return {row["reason"]: row["share"] for row in rows if (row["kind"], row["by"], row["group"]) == (kind, by, group)}


def test_shortcomings_are_counted_by_level_and_what_is_wrong_among_those_who_named_it(judged, tmp_path):
    rows = figures_of("reasons", "round-1")["reasons"]
    assert shares("shortcoming", "", "all", rows) == {
        "not_in_image": pytest.approx(1 / 3),
        "not_in_caption": 0,
        "wrong_way": pytest.approx(2 / 3),
        "grammar": 0,
    }
    assert shares("shortcoming", "level", "Partially YES, but", rows)["wrong_way"] == 1
    assert shares("shortcoming", "level", "Mostly NO, because", rows)["not_in_image"] == 1
    (color,) = [
        row
        for row in written(tmp_path, "reasons", "round-1")
        if (row["kind"], row["by"], row["reason"]) == ("wrong_way", "", "color")
    ]
    assert (color["count"], color["judgments"]) == ("1", "2")
    found = shares("wrong_way", "", "all", rows)
    assert (found["color"], found["quantity"], found["age"]) == (0.5, 0.5, 0)
    assert shares("wrong_way", "level", "Mostly NO, because", rows)["color"] is None


def test_reasons_are_counted_by_direction_and_annotator(judged):
    pairs, words, shapes = candidates(judged.hits.get()), make_annotator("words"), make_annotator("shapes")
    propose(judged, pairs[:2], words)
    propose(judged, pairs[1:], shapes, direction="t2i")
    rows = figures_of("reasons", "round-1")["reasons"]
    assert shares("shortcoming", "direction", "i2t", rows)["wrong_way"] == 1
    assert shares("shortcoming", "direction", "t2i", rows)["not_in_image"] == 0.5
    assert shares("wrong_way", "annotator", "words", rows)["color"] == 0.5
    assert shares("wrong_way", "annotator", "shapes", rows)["color"] == 0


def test_reasons_that_do_not_count_are_left_out(judged):
    other = answer(judged.hits.get(), 3, 3, 3, 3, seat=2)
    Judgment.objects.filter(assignment=other, level=3).update(shortcoming="grammar")
    assert shares("shortcoming", "", "all")["grammar"] > 0
    Assignment.objects.filter(pk=other.pk).update(state="excluded")
    assert shares("shortcoming", "", "all")["grammar"] == 0


def test_a_round_that_asked_for_no_reasons_is_refused():
    made = make_round(hits=1, candidates=2)
    answer(made.hits.get(), 2, 3)
    with pytest.raises(CommandError, match="round-1 has no reasons"):
        analyse("reasons", "round-1")
