"""What captions of the demo say: five for a picture, all true, saying their meaning and no more."""

import re

import numpy as np
import pytest

from counterpart_drawn.grades import grade
from counterpart_drawn.meanings import SEVERAL, SOME, Claim, Meaning
from counterpart_drawn.phrases import word
from counterpart_drawn.plates import compose
from counterpart_drawn.scenes import KINDS, sample_scenes

COLOURS = {colour for kind in KINDS.values() for colour in kind.colours}


@pytest.fixture(scope="module")
def plates():
    return compose(300, seed=3)


def spoken(text):
    return re.findall(r"[a-z]+", text.lower())


def test_a_picture_has_five_captions_of_different_words_and_meanings_all_right_for_it(plates):
    assert {len(set(plate.texts)) for plate in plates} == {5}
    assert np.mean([len(set(plate.meanings)) for plate in plates]) > 4.9
    assert {grade(meaning, plate.scene) for plate in plates for meaning in plate.meanings} == {1}


def test_captions_are_clean_sentences(plates):
    for text in (text for plate in plates for text in plate.texts):
        assert re.fullmatch(r"[A-Z][a-z]*( [a-z]+)*\.", text), text
        assert not re.search(r"\b(a [aeiou]|an [^aeiou])", text, re.IGNORECASE), text


def test_a_caption_names_exactly_the_colours_of_its_meaning(plates):
    for meaning, text in ((m, t) for plate in plates for m, t in zip(plate.meanings, plate.texts, strict=True)):
        claimed = {meaning.subject.colour, meaning.companion and meaning.companion.colour} - {None}
        assert set(spoken(text)) & COLOURS == claimed, text


@pytest.mark.parametrize(
    ("meaning", "saying"),
    [
        (Meaning(Claim("orange cat", (1, 1))), "an orange cat"),
        (Meaning(Claim("bus", (3, 3), colour="red")), "three red buses"),
        (Meaning(Claim("girl", (1, 1), colour="red")), "a girl in a red dress"),
        (Meaning(Claim("boy", (2, 2), colour="blue")), "two boys in blue shirts"),
        (Meaning(Claim("fruit", (2, 2), colour="green")), "two green pieces of fruit"),
        (Meaning(Claim("dog", SEVERAL)), "several dogs|at least three dogs"),
        (
            Meaning(Claim("car", SOME), time="night"),
            "^(at night|under the stars) there are .*cars|cars.* (at night|under the stars)",
        ),
        (Meaning(Claim("dog", (1, 1)), Claim("ball", (1, 1), colour="red"), "left"), "a dog .*left of a red ball"),
        (Meaning(Claim("horse", (1, 1), action="eating", side="left")), "a horse .*(eating|grazing) on the left"),
    ],
)
def test_a_meaning_is_put_into_words(meaning, saying):
    for seed in range(20):
        assert re.search(saying, word(meaning, np.random.default_rng(seed)).lower())


def test_scenes_stay_within_the_grammar():
    for scene in sample_scenes(300, seed=8):
        kinds = [group.kind for group in scene.groups]
        assert len(set(kinds)) == len(kinds) <= 2
        assert (scene.time == "indoors") == (scene.setting == "room")
        for group in scene.groups:
            assert group.colour in KINDS[group.kind].colours
            assert group.action in (KINDS[group.kind].actions or (None,))
