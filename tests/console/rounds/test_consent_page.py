"""The page on which a researcher writes the consent sheet of a round."""

from hits.models import Round
from tests.factories import make_round

PAGE = "/rounds/draft/consent/"
WORDS = {"researchers": "Kim's <lab>, on cats.", "payment_terms": "Every Friday.", "contact": "kim@example.org"}


def test_the_settings_are_suggested_and_what_is_written_is_kept_as_a_version_and_leads_on(researcher, draft, settings):
    settings.RESEARCHERS = "The server's lab."
    assert researcher.get(PAGE).context["form"]["researchers"].value() == "The server's lab."
    assert researcher.post(PAGE, WORDS).url == "/rounds/draft/hits/1/"
    written = draft.consent_words.get()
    assert {name: getattr(written, name) for name in WORDS} == WORDS
    assert written.by == "researcher"


def test_the_sheet_is_shown_with_what_is_typed_and_nothing_is_kept(researcher, draft):
    page = researcher.post(PAGE, WORDS | {"show": "yes"})
    assert "Kim&#x27;s &lt;lab&gt;" in page.text
    assert not draft.consent_words.exists()


def test_an_open_round_asks_its_workers_again_and_a_closed_one_cannot_be_changed(researcher, db):
    make_round(name="draft")
    assert researcher.post(PAGE, WORDS).url == "/rounds/draft/"
    Round.objects.update(closed_at="2026-01-01T00:00Z")
    refused = researcher.post(PAGE, WORDS | {"contact": "lee@example.org"})
    assert (refused.status_code, "is closed" in refused.text) == (422, True)
