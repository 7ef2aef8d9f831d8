"""Releasing a version: its citation, what counts, and what it would hold by three policies."""

from urllib.parse import urlencode

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from corpus.models import Match
from dataset.models import Case, Version
from dataset.versions.contents import Policies
from hits.models import Round
from tests.annotation.cast import answer, associate, candidates, sample_of
from tests.console.browsing import log_in
from tests.factories import make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked():
    """The fields of a release of one round, with a conflict with CxC."""
    made = make_round(make_collection(images=6, pictures=True), candidates=2)
    answer(made.hits.get(), 1, 4)
    associate(made.pool.collection, "cxc", candidates(made.hits.get()), score=4)
    policies = {"positive_levels": [1, 2], "method": "majority", "ties": "median", "precedence": "union"}
    contents = {"queries": sample_of(made).name, "rounds": [made.name], "merge": "cxc>=3, original"}
    return {"version": "v1", "partial": "on", "step": "count", **contents, **policies}


def test_a_source_that_cannot_be_merged_is_explained(releaser, asked):
    page = releaser.get("/release/", asked | {"merge": "farm-only"})
    assert page.status_code == 422
    assert "1 match source is not in zoo: farm-only; it has cxc, original." in page.text


def test_the_form_proposes_the_newest_round_a_free_name_and_the_credits_of_the_version_before(releaser, asked):
    newest = make_round(make_collection("farm", images=6, pictures=True), "newest")
    collection = newest.pool.collection
    manifest = {"credits": {"title": "Farm", "authors": [{"name": "Ada", "orcid": ""}]}, "licence": "CC0-1.0"}
    Version.objects.create(name="farm-v1", collection=collection, sample=newest.pool.sample, manifest=manifest)
    associate(collection, "farm-v2", candidates(newest.hits.get()))
    shown = releaser.get("/release/").context["form"]
    assert {name: shown[name].value() for name in ("version", "title", "authors", "licence")} == {
        "version": "farm-v3",
        "title": "Farm",
        "authors": "Ada",
        "licence": "CC0-1.0",
    }
    assert (shown["queries"].value(), shown["rounds"].value()) == (sample_of(newest).name, ["newest"])


def test_policies_are_offered_with_their_effects_and_the_pairs_that_flip(researcher, asked):
    Match.objects.filter(source="cxc").update(source="other")
    answered = candidates(Round.objects.get().hits.get())
    associate(Round.objects.get().pool.collection, "original", [answered[1]])
    page = researcher.get("/release/", asked | {"merge": "original"})
    effects = {one["choice"].label: (one["matches"], one["found"], one["dropped"]) for one in page.context["effects"]}
    assert effects == {"As ECCV Caption": (14, 1, 0), "Strict": (14, 1, 0), "People decide": (13, 1, 1)}
    (((_, *flip), *_),) = page.context["flips"]
    assert flip == [4, ["As ECCV Caption", "Strict"]]
    assert "1 pair that depends on this choice" in page.text
    assert "Still open: round-1" in page.text


def test_own_policies_are_offered_before_the_three(researcher, asked):
    effects = researcher.get("/release/", asked).context["effects"]
    assert [one["choice"].label for one in effects] == ["Your own", "As ECCV Caption", "Strict", "People decide"]


def test_a_citation_has_the_public_address_before_the_release(releaser, asked, settings):
    settings.ALLOWED_HOSTS = ["zoo.example.org"]
    releaser.defaults["SERVER_NAME"] = "zoo.example.org"
    assert "url = {http://zoo.example.org/results/v1/}" in releaser.get("/release/", asked).text
    assert "url = {https://doi.org/10.1234/zoo}" in releaser.get("/release/", asked | {"url": "10.1234/zoo"}).text


def test_a_reader_sees_conflicts_in_place_and_releases_nothing(member, asked):
    assert member.get("/release/", asked).status_code == 422  # the controls of an open round are secret
    Round.objects.update(closed_at=timezone.now())
    text = member.get("/release/", asked).text
    assert "1 conflict: people say no match" in text
    assert "Send 1 to review" not in text
    assert "for good" not in text
    assert member.post("/release/", {"query": urlencode(asked, doseq=True)}).status_code == 403


def test_conflicts_are_sent_to_review_and_a_forged_query_sends_nothing(reviewer, asked):
    response = reviewer.post("/conflicts/send/", {"query": "queries=999&merge=cxc"}, follow=True)
    assert (response.status_code, Case.objects.count()) == (200, 0)
    response = reviewer.post("/conflicts/send/", {"query": urlencode(asked, doseq=True)}, follow=True)
    assert "1 conflict sent to review" in response.text
    assert Case.objects.get().reasons.keys() == {"conflict"}


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_version_is_released_in_two_pages_without_scripts(open_page, live_server, asked):
    page = open_page(java_script_enabled=False)
    log_in(page, live_server.url)
    page.goto("/release/")
    page.get_by_label("Authors").fill("Ada Lovelace")
    page.get_by_text("Own policies and unfinished rounds").click()
    page.get_by_label("Release unfinished rounds as they are").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("radio", name="People decide").check()
    page.get_by_role("button", name="Release zoo-v1 for good").click()
    expect(page.get_by_role("heading", name="zoo")).to_be_visible()
    released = Version.objects.get()
    assert Policies.from_json(released.manifest["policies"]).precedence == "judged"
    assert released.manifest["credits"]["url"] == f"{live_server.url}/results/zoo-v1/"
