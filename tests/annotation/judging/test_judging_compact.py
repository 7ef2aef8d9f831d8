"""The one form field that carries an answer set through a platform."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from annotation.work.answers import REASONS, Answer, decode_answers, encode_answers
from core.errors import CounterpartError
from hits.question import Shortcoming, WrongWay

PLACES = {1: 71, 2: 33, 3: 52, 4: 90}
ANSWERS = [
    Answer(71, 1),
    Answer(33, 2, "not_in_image"),
    Answer(52, 3, "wrong_way", "quantity"),
    Answer(90, 4),
]


def test_a_word_a_pair_in_the_order_of_places():
    assert encode_answers(ANSWERS, PLACES) == "1.2a.3ce.4"
    assert encode_answers(ANSWERS[::-1], dict(reversed(PLACES.items()))) == "1.2a.3ce.4"


def test_every_answer_comes_back_as_it_was():
    every = [Answer(n, 2 + n % 2, reason) for n, reason in enumerate(Shortcoming.values)]
    every += [Answer(100 + n, 3, "wrong_way", way) for n, way in enumerate(WrongWay.values)]
    places = {place: answer.item_id for place, answer in enumerate(every, 1)}
    assert decode_answers(encode_answers(every, places), places) == every


def test_the_letters_are_those_of_the_pages_keys():
    keys = (Path(settings.BASE_DIR) / "static/judging/keys.js").read_text()
    assert re.search(r'REASON_KEYS = \[\.\.\."(\w+)"\]', keys)[1] == "".join(REASONS)


@pytest.mark.parametrize("text", ["", "1.1.1", "1.1.1.1.1", "1,1,1,1"])
def test_another_number_of_answers_than_pairs_is_refused(text):
    with pytest.raises(CounterpartError, match="answers? for 4 pairs"):
        decode_answers(text, PLACES)


@pytest.mark.parametrize("word", ["6", "5", "2z", "2ea", "3cee", "٣", "1 ", "1\n", "2A", "<b>", ""])
def test_an_invalid_word_is_refused_by_its_place(word):
    with pytest.raises(CounterpartError, match="The answer to pair 3 is"):
        decode_answers(f"1.1.{word}.1", PLACES)


def test_a_refusal_repeats_little_of_what_was_sent():
    with pytest.raises(CounterpartError) as refused:
        decode_answers("9" * 60_000 + ".1.1.1", PLACES)
    assert len(str(refused.value)) < 120
