"""The truth of the demo: each level worked by hand, and the whole table against a slow reading of the rules."""

import numpy as np
import pytest

from counterpart_drawn.grades import grade, grades
from counterpart_drawn.meanings import GENERAL_NOUNS, PLACES, SEVERAL, SOME, Claim, Meaning
from counterpart_drawn.plates import compose
from counterpart_drawn.scenes import KINDS, Group, Scene

DOGS = Group("dog", 2, "brown", "large", "running", "left")
BALL = Group("ball", 1, "red", "small", None, "right")
DOGS_AND_BALL = Scene("park", "day", (DOGS, BALL))
TWO_DOGS = (2, 2)


def two_dogs(**said):
    return Claim("dog", TWO_DOGS, **said)


@pytest.mark.parametrize(
    ("meaning", "level"),
    [
        (Meaning(two_dogs()), 1),
        (Meaning(two_dogs(colour="brown", action="running"), place="park"), 1),
        (Meaning(Claim("dog", SOME), place="grass", time="day"), 1),
        (Meaning(Claim("pet", TWO_DOGS), place="outdoors"), 1),
        (Meaning(Claim("ball", (1, 1), colour="red", side="right")), 1),
        (Meaning(two_dogs(), Claim("ball", (1, 1)), relation="left"), 1),
        (Meaning(two_dogs(colour="black"), place="park"), 2),
        (Meaning(two_dogs(side="middle")), 2),
        (Meaning(two_dogs(), place="beach"), 2),
        (Meaning(two_dogs(), time="night"), 2),
        (Meaning(Claim("dog", (1, 1))), 2),
        (Meaning(Claim("dog", SEVERAL)), 2),
        (Meaning(two_dogs(), Claim("ball", (1, 1), colour="blue")), 2),
        (Meaning(two_dogs(), Claim("balloon", (1, 1))), 2),
        (Meaning(two_dogs(), Claim("ball", (1, 1)), relation="right"), 2),
        (Meaning(two_dogs(colour="black"), place="beach"), 3),
        (Meaning(Claim("dog", (4, 4))), 3),
        (Meaning(Claim("cat", TWO_DOGS, action="running")), 3),
        (Meaning(Claim("animal", TWO_DOGS), place="beach"), 3),
        (Meaning(two_dogs(), Claim("girl", (1, 1), colour="red")), 3),
        (Meaning(Claim("cat", TWO_DOGS, action="sitting")), 4),
        (Meaning(Claim("animal", (1, 1)), place="beach"), 4),
        (Meaning(two_dogs(colour="black", size="small"), place="beach"), 4),
        (Meaning(two_dogs(colour="black"), Claim("girl", (1, 1))), 4),
        (Meaning(Claim("car", TWO_DOGS), place="park"), 4),
    ],
)
def test_the_level_of_a_caption_follows_from_its_faults(meaning, level):
    assert grade(meaning, DOGS_AND_BALL) == level


def test_two_groups_of_one_category_count_together():
    scene = Scene("room", "indoors", (DOGS, Group("cat", 1, "black", "large", "running", "right")))
    assert grade(Meaning(Claim("animal", (3, 3), action="running")), scene) == 1
    assert grade(Meaning(Claim("animal", (3, 3), colour="brown")), scene) == 3
    assert grade(Meaning(Claim("animal", (3, 3))), DOGS_AND_BALL) == 3
    assert grades([], [scene]).shape == (0, 1)


def category_of(kinds):
    categories = {KINDS[kind].category for kind in kinds}
    return categories.pop() if len(categories) == 1 else None


def kinds_meant(noun):
    return GENERAL_NOUNS.get(noun, {noun})


def kind_faults(noun, kinds, *, related, unrelated):
    if kinds <= kinds_meant(noun):
        return 0
    return related if category_of(kinds) == category_of(kinds_meant(noun)) else unrelated


def detail_faults(claim, groups):
    count = sum(group.count for group in groups)
    low, high = claim.count
    faults = min(2, low - count if count < low else count - high if count > high else 0)
    for detail in ("colour", "size", "action", "side"):
        said = getattr(claim, detail)
        faults += said is not None and any(getattr(group, detail) != said for group in groups)
    return faults


def companion_faults(meaning, subject, rest):
    if meaning.companion is None:
        return 0
    if not rest:
        return 2
    faults = kind_faults(meaning.companion.noun, {rest[0].kind}, related=1, unrelated=2)
    faults += meaning.relation is not None and subject[0].side != meaning.relation
    return min(2, faults + detail_faults(meaning.companion, rest))


def faults_of_reading(meaning, scene, subject):
    rest = [group for group in scene.groups if group not in subject]
    faults = kind_faults(meaning.subject.noun, {group.kind for group in subject}, related=2, unrelated=9)
    faults += detail_faults(meaning.subject, subject) + companion_faults(meaning, subject, rest)
    faults += meaning.place is not None and scene.setting not in PLACES[meaning.place]
    faults += meaning.time is not None and scene.time != meaning.time
    return faults + (faults > 0 and meaning.subject.noun in GENERAL_NOUNS)


def slow_grade(meaning, scene):
    readings = [[group] for group in scene.groups] + ([list(scene.groups)] if len(scene.groups) == 2 else [])
    return 1 + min(3, min(faults_of_reading(meaning, scene, subject) for subject in readings))


def test_the_table_agrees_with_a_slow_reading_of_the_rules():
    plates = compose(50, seed=5)
    meanings = [meaning for plate in plates for meaning in plate.meanings]
    scenes = [plate.scene for plate in plates]
    expected = [[slow_grade(meaning, scene) for scene in scenes] for meaning in meanings]
    np.testing.assert_array_equal(grades(meanings, scenes), expected)


def test_many_captions_are_graded_in_blocks_as_they_are_one_by_one(monkeypatch):
    plates = compose(12, seed=1)
    meanings = [meaning for plate in plates for meaning in plate.meanings]
    scenes = [plate.scene for plate in plates]
    whole = grades(meanings, scenes)
    monkeypatch.setattr("counterpart_drawn.grades.BLOCK", 7)
    np.testing.assert_array_equal(grades(meanings, scenes), whole)


def test_positives_are_as_plentiful_as_in_real_extended_benchmarks():
    plates = [plate for plate in compose(600, seed=0) if plate.split == "test"]
    meanings = [meaning for plate in plates for meaning in plate.meanings]
    levels = grades(meanings, [plate.scene for plate in plates])
    assert 8 <= (levels <= 2).sum(axis=1).mean() <= 20
    assert 25 <= np.median((levels <= 2).sum(axis=0)) <= 60
    assert (levels == 3).sum() < 40_000
