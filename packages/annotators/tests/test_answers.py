import json
import math

import pytest

from chat_endpoint import said
from counterpart_annotators.kinds.vlm.questions import InvalidAnswerError, Usage, level_in, read_answer


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("1", 1),
        ("**3**", 3),
        ("Level 4", 4),
        ("100% YES", 1),
        ("Partially yes", 2),
        ("Mostly NO, because the dog is missing", 3),
        ("100% no", 4),
        ("5", None),
        ("1 or 2", None),
        ("", None),
        ("0.4", None),
    ],
)
def test_a_level_is_read_where_one_is_named(text, level):
    assert level_in(text) == level


def test_a_level_without_probabilities_is_certain():
    answer = read_answer(said("2").body)
    assert answer.probabilities == (0, 1, 0, 0)
    assert answer.score == 0.5


def test_the_score_is_the_expected_match_weight():
    answer = read_answer(said("1", levels={"1": 0.5, "2": 0.3, "3": 0.1, "4": 0.1}).body)
    assert answer.score == pytest.approx(0.5 * 1 + 0.3 * 0.5)


def test_other_tokens_are_left_out_and_the_rest_sums_to_one():
    answer = read_answer(said("2", levels={"2": 0.4, " 2": 0.1, "3": 0.25, "Yes": 0.2}).body)
    assert answer.probabilities == pytest.approx((0, 0.5 / 0.75, 0.25 / 0.75, 0))


def test_the_probabilities_are_those_of_the_token_that_is_the_level():
    body = json.loads(said("Level 3").body)
    tokens = [("Level", {"Level": 0.9, "1": 0.1}), (" ", {}), ("3", {"3": 0.75, "4": 0.25})]
    body["choices"][0]["logprobs"] = {
        "content": [
            {
                "token": token,
                "logprob": 0.0,
                "top_logprobs": [{"token": other, "logprob": math.log(chance)} for other, chance in top.items()],
            }
            for token, top in tokens
        ]
    }
    assert read_answer(json.dumps(body)).probabilities == pytest.approx((0, 0, 0.75, 0.25))


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": [{"token": "2"}]}, {"content": "2"}, 7])
def test_without_usable_probabilities_the_level_counts(logprobs):
    body = json.loads(said("2").body)
    body["choices"][0]["logprobs"] = logprobs
    assert read_answer(json.dumps(body)).probabilities == (0, 1, 0, 0)


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        ("<html><body>Bad gateway</body></html>", "invalid JSON, '<html><body>Bad gateway</body></html>'"),
        ("{", "invalid JSON, '{'"),
        ("[]", "an object without choices"),
        ('{"choices": []}', "an object without choices"),
        ('{"choices": [{"message": null}]}', "an object without choices"),
        ('{"choices": [{"message": {"content": null}}]}', "a message without text"),
        (said("A lovely dog!").body, "a text without a level, 'A lovely dog!'"),
    ],
)
def test_nonsense_is_described_in_a_few_words(body, holds):
    with pytest.raises(InvalidAnswerError) as raised:
        read_answer(body)
    assert str(raised.value) == holds


def test_a_body_that_nests_without_end_is_nonsense():
    with pytest.raises(InvalidAnswerError, match="invalid JSON"):
        read_answer("[" * 100_000)


def test_a_probability_of_nan_is_not_used():
    body = json.loads(said("2").body)
    top = [{"token": "1", "logprob": float("nan")}, {"token": "2", "logprob": -0.5}]
    body["choices"][0]["logprobs"] = {"content": [{"token": "2", "logprob": -0.5, "top_logprobs": top}]}
    assert read_answer(json.dumps(body)).probabilities == (0, 1, 0, 0)


def test_nonsense_costs_what_it_says():
    with pytest.raises(InvalidAnswerError) as raised:
        read_answer(said("hm", usage=(70, 2)).body)
    assert raised.value.usage == Usage(70, 2)


@pytest.mark.parametrize(
    "usage", [None, 3, {}, {"prompt_tokens": "many"}, {"prompt_tokens": -1}, {"prompt_tokens": 10**30}]
)
def test_missing_or_invalid_usage_is_unknown(usage):
    body = json.loads(said("1", usage=None).body) | {"usage": usage}
    assert read_answer(json.dumps(body)).usage == Usage()
