"""The page on which a researcher writes the guide and the consent sheet of a round."""

import pytest

from annotation.people.guides import guided_task
from core import clock
from corpus.models import Image
from hits.models import Item, Round
from tests.factories import make_round

PAGE = "/rounds/draft/consent/"
WORDS = {"researchers": "Kim's <lab>, on cats.", "payment_terms": "Every Friday.", "contact": "kim@example.org"}
LEVELS = {"name-1": "Fits", "name-2": "Nearly", "name-3": "Hardly", "name-4": "Not at all"}
LEVELS |= {f"text-{level}": f"Meaning {level}." for level in range(1, 5)}
EXAMPLE = {"sentence-0": "A red cat.", "level-0": "2", "why-0": "It is grey."}


def test_the_settings_are_suggested_and_what_is_written_is_kept_as_a_version_and_leads_on(researcher, draft, settings):
    settings.RESEARCHERS = "The server's lab."
    form = researcher.get(PAGE).context["form"]
    assert form["researchers"].value() == "The server's lab."
    asked = {name: form[name].value() or "" for name in form.fields}
    assert researcher.post(PAGE, asked | WORDS | {"language": "de"}).url == "/rounds/draft/hits/1/"
    written = draft.consent_words.get()
    assert {name: getattr(written, name) for name in WORDS} == WORDS
    assert (written.by, written.levels, written.examples) == ("researcher", {}, [])
    draft.refresh_from_db()
    assert draft.language == "de"


def test_the_guide_is_shown_with_what_is_typed_and_nothing_is_kept(researcher, draft):
    image = Image.objects.exclude(file="").first()
    page = researcher.post(PAGE, WORDS | LEVELS | EXAMPLE | {"image-0": image.key, "show": "yes"}).text
    for shown in ("Kim&#x27;s &lt;lab&gt;", "Not at all", "“A red cat.”", f"/pictures/{image.pk}/"):
        assert shown in page
    assert not draft.consent_words.exists()


def test_a_hit_keeps_the_guide_of_its_time(researcher, draft):
    before = clock.now()
    researcher.post(PAGE, WORDS | LEVELS | EXAMPLE)
    assert guided_task(draft).labels[2] == "Nearly"
    assert guided_task(draft).guide(draft.wording)["examples"][0]["label"] == "Nearly"
    assert guided_task(draft, at=before).labels[2] == "Partially YES, but"


@pytest.mark.parametrize("odd", [{"image-0": "unknown"}, {"why-0": ""}, {"sentence-0": "x" * 400}])
def test_an_example_that_cannot_be_shown_is_refused(researcher, draft, odd):
    assert researcher.post(PAGE, WORDS | LEVELS | EXAMPLE | odd).status_code == 422
    assert not draft.consent_words.exists()


def test_no_example_answers_a_pair_of_the_round(researcher, draft):
    asked = Item.objects.filter(hit__round=draft).select_related("image", "caption").first()
    Image.objects.filter(pk=asked.image_id).update(file="x.jpg")
    own = {"image-0": asked.image.key, "sentence-0": asked.caption.text}
    refused = researcher.post(PAGE, WORDS | LEVELS | EXAMPLE | own)
    assert (refused.status_code, "is asked about with its picture" in refused.text) == (422, True)


def test_an_open_round_asks_its_workers_again_and_keeps_its_levels_and_a_closed_one_cannot_be_changed(researcher, db):
    round = make_round(name="draft")
    assert researcher.post(PAGE, WORDS | LEVELS | EXAMPLE).url == "/rounds/draft/"
    written = round.consent_words.get()
    assert (written.levels, written.examples[0]["sentence"]) == ({}, "A red cat.")
    Round.objects.update(closed_at="2026-01-01T00:00Z")
    refused = researcher.post(PAGE, WORDS | {"contact": "lee@example.org"})
    assert (refused.status_code, "is closed" in refused.text) == (422, True)
