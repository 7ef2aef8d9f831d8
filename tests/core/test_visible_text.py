"""Text and names that people give: what is valid, and that no visible character counts as empty."""

import unicodedata

import pyarrow as pa
import pytest
from django.http import QueryDict
from pyarrow import compute

from annotation.judging.sheet_answers import parse_answers
from annotation.models import Report
from annotation.people.consent import empty_words, write_words
from annotation.review.decisions import decide
from annotation.work.reports import Complaint, report_pair
from annotation.work.written_captions import has_words
from core.errors import CounterpartError
from core.text import VISIBLE, check_name, check_words, find_named, is_visible, trimmed
from corpus.models import Collection
from corpus.readers.record import caption_record
from dataset.releases.credits import Credits
from evaluation.scores.runs import check_model
from hits.task_types import TASK_TYPES
from tests.annotation.answering import leased
from tests.factories import make_round

UNSEEN = {
    "spaces": " \u00a0\u2003\u3000\n",
    "zero width": "\u200b\u200d\ufeff",
    "direction": "\u200e\u202b\u2066\u2069",
    "marks alone": "\u0301\u0308",
    "Hangul fillers": "\u3164\u115f\u1160\uffa0",
    "empty Braille": "\u2800\u2800",
    "soft hyphen": "\xad",
    "variation selectors": "\ufe0f\U000e0100",
    "tags": "\U000e0041\U000e007f",
    "joiner of graphemes": "\u034f",
}
SEEN = ["A dog", "犬", "강아지", "a\u0301", "👩‍🚀", "\u200fשלום", "?", "7", "⠁", "\U0001d15e"]


@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN)
def test_invisible_text_is_trimmed_away_and_is_not_a_caption_note_name_or_title(text):
    assert trimmed(text) == ""
    with pytest.raises(ValueError, match="the caption has no text"):
        caption_record(image="1", file_name="1.jpg", caption="2", text=text)
    with pytest.raises(CounterpartError, match="The reason is empty"):
        check_words(text, what="reason", at_most=100)
    with pytest.raises(CounterpartError, match="Invalid model name"):
        check_model(text)
    assert Credits(title=text, authors=f"Ada; {text}") == Credits(title="", authors="Ada")
    assert not has_words(" ".join([text] * 5))


@pytest.mark.parametrize("text", SEEN)
def test_visible_text_is_kept(text):
    assert trimmed(f" {text}\n") == text


def test_the_search_in_parquet_files_finds_the_same_characters_visible():
    signs = [chr(code) for code in (*range(1, 0xD800), *range(0xE000, 0x30000), 0xE0041, 0xE0100)]
    assigned = [sign for sign in signs if unicodedata.category(sign) != "Cn"]  # each library has a version of Unicode
    found = compute.match_substring_regex(pa.array(assigned), VISIBLE).to_pylist()
    assert [sign for sign, seen in zip(assigned, found, strict=True) if seen != is_visible(sign)] == []


def test_invisible_words_of_workers_and_staff_count_as_missing(db, django_user_model):
    made = make_round()
    held = leased(made)
    report_pair(held, Complaint(held.hit.items.first().pk, "text", "\u200b"))
    assert Report.objects.get().note == ""
    with pytest.raises(CounterpartError, match="without a reason"):
        decide(held, votes_count=False, paid=True, reason="\u2800", by=django_user_model(username="kim"))
    write_words(made, actor="kim", researchers="\u3164", payment_terms="Fridays", contact=" \xad")
    assert [*empty_words(made)] == ["researchers", "contact"]


def test_an_invisible_sentence_is_not_an_answer():
    assert parse_answers(QueryDict("text-1=\u3164"), {1: 1}, TASK_TYPES["caption"]) == []


# Names that people give: what is valid, and what an unknown one is answered with


@pytest.mark.parametrize("name", ["zoo", "Zoo-2_b", "x" * 80])
def test_a_valid_name_is_returned(name):
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "a b", "../zoo", "zoo\n", "x" * 81])
def test_an_invalid_name_is_refused(name):
    with pytest.raises(CounterpartError, match="name"):
        check_name(name)


def test_a_row_is_found_by_name(db):
    zoo = Collection.objects.create(name="zoo")
    assert Collection.objects.named("zoo") == find_named(Collection.objects.all(), "zoo", made_by="x") == zoo


def test_an_unknown_name_is_answered_with_the_existing_ones_and_the_command_that_makes_one(db):
    with pytest.raises(CounterpartError, match="import_collection"):
        Collection.objects.named("zoo")
    Collection.objects.create(name="farm")
    with pytest.raises(CounterpartError, match="'zoo': use farm"):
        Collection.objects.named("zoo")
