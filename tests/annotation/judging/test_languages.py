"""The language of a worker's pages: that of the round, or else of the browser; and what the catalogues hold."""

import re
from gettext import translation
from pathlib import Path

from hits.models import Round
from tests.annotation.answering import address

LOCALE = "annotation/locale"
MARKED = re.compile(r'{% translate "([^"]+)"')
GERMAN = {"headers": {"accept-language": "de"}}


def joining(made: Round) -> str:
    return f"/judge/join/{made.join_key}/"


def test_a_page_is_in_the_language_of_the_browser_but_the_consent_sheet_in_that_of_the_round(stranger, made):
    page = stranger.get(joining(made), **GERMAN).text
    for shown in ('<html lang="de"', "Zustimmen und beitreten", "100 % JA", "Taking part is your choice."):
        assert shown in page


def test_a_round_in_a_language_that_is_written_from_right_to_left(stranger, made, assignment):
    Round.objects.update(language="ar")
    for page in (joining(made), address("task", assignment)):
        assert '<html lang="ar" dir="rtl"' in stranger.get(page, **GERMAN).text
    assert "المشاركة اختيارك." in stranger.get(joining(made)).text


def test_no_answer_leaves_its_language_to_the_next(stranger, made, researcher):
    stranger.get(joining(made), **GERMAN)
    assert '<html lang="en"' in stranger.get(joining(made)).text
    assert '<html lang="en"' in researcher.get("/", **GERMAN).text


def test_the_words_of_scripts_come_from_a_catalogue(stranger):
    assert "noch %(n)s min" in stranger.get("/judge/words/de/").text
    assert stranger.get("/judge/words/xx/").status_code == 404


def test_the_german_catalogue_has_every_text_of_the_templates():
    known = translation("django", LOCALE, languages=["de"])._catalog
    texts = {text for file in Path("templates/judging").rglob("*.html") for text in MARKED.findall(file.read_text())}
    assert len(texts) > 200
    assert texts - known.keys() == set()
