"""The public page of a version: who may publish it, who may read it, and what it shows."""

import json
from hashlib import sha256

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone

from annotation.models import Worker
from core.models import Event
from corpus.models import Caption, Match
from dataset.models import Publication, Version
from dataset.publications import EXAMPLES, examples_of, publish
from evaluation.models import Run
from hits.models import Round
from tests.console.conftest import Site

PUBLISH, WITHDRAW, RESULT = "/versions/v1/publish/", "/versions/v1/withdraw/", "/results/v1/"
TERMS = {"picture_terms": "CC BY 4.0, drawn by us"}


@pytest.fixture
def site(db, lasting_site) -> Site:
    """The site once the round of its version is closed: before, only staff may see its pairs."""
    Round.objects.filter(name="done").update(closed_at=timezone.now())
    return lasting_site.again()


@pytest.fixture
def published(site) -> Version:
    """The version of the site, with a match that is not original and its page public."""
    pair = {"image": site.collection.images.first(), "caption": site.collection.captions.last()}
    Match.objects.create(collection=site.collection, source="v1", score=1, grade=2, **pair)
    publish(site.version, by=User.objects.create_user("ada"), **TERMS)
    return site.version


def test_an_admin_publishes_and_withdraws_the_page_and_both_are_logged(stranger, releaser, site):
    assert releaser.get(PUBLISH).status_code == 200
    assert not Publication.objects.exists()
    assert "The page is public." in releaser.post(PUBLISH, TERMS, follow=True).text
    assert stranger.get(RESULT).status_code == 200
    assert RESULT in releaser.get("/versions/v1/").text
    assert "withdrawn" in releaser.post(WITHDRAW, follow=True).text
    assert stranger.get(RESULT).status_code == 404
    releaser.post(WITHDRAW)
    verbs = Event.objects.filter(verb__startswith="result").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["result published", "result withdrawn"]
    assert "withdrew the public page of" in releaser.get("/activity/").text


def test_a_stranger_reads_leaderboard_examples_levels_card_citation_and_checksums(stranger, published):
    run = Run.objects.create(collection=published.collection, model="overlap", sha256="0" * 64)
    run.scores.create(version=published, metric="R@1", direction="i2t", value=0.5, queries=8)
    text = stranger.get(RESULT).text
    for message in (
        *("<h1>v1</h1>", "overlap", "50.0", "Matches that the original pairs do not have", "The judged pairs by level"),
        *("Pictures: CC BY 4.0, drawn by us", "@misc{v1,", "url = {http://testserver/results/v1/}", "Known biases"),
        *("Who judged", published.manifest["files"]["pairs.csv"]["sha256"], published.manifest_sha256),
    ):
        assert message in text, message


def test_the_page_names_no_worker_no_pay_no_control_and_leads_to_no_staff_page(stranger, site, published):
    text = stranger.get(RESULT).text
    workers = {str(one) for one in Worker.objects.filter(assignments__isnull=False)}
    assert workers
    assert [word for word in (*workers, "$", "control", "judgments.csv</a>") if word in text] == []
    links = [part.split('"')[0] for part in text.split('href="')[1:]]
    assert [link for link in links if not link.startswith(("/static/", "#main", "http"))] == []


def test_the_page_opens_no_session_may_be_cached_and_is_in_no_search_engine(releaser, published):
    response = releaser.get(RESULT)
    assert response["Cache-Control"] == "public, max-age=300"
    assert response["X-Robots-Tag"] == "noindex"
    assert "Cookie" not in response.get("Vary", "")
    assert not response.cookies
    assert "releaser" not in response.text
    assert "Log out" not in response.text


def test_pictures_are_shown_with_their_terms_and_only_those_of_the_examples(stranger, published):
    example, *more = examples_of(published)
    shown = {pk for match in (example, *more) for pk in (match.image_id, match.caption.image_id)}
    others = published.collection.images.exclude(pk__in=shown)
    address = f"{RESULT}pictures/{example.image_id}.jpg"
    assert address in stranger.get(RESULT).text
    response = stranger.get(address)
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    assert stranger.get(f"{RESULT}pictures/{others.first().pk}.jpg").status_code == 404
    Publication.objects.update(picture_terms="")
    text = stranger.get(RESULT).text
    assert (address in text, example.caption.text in text) == (False, True)
    assert stranger.get(address).status_code == 404


def test_files_are_offered_once_the_publisher_chooses_so_and_never_those_of_workers(stranger, site, published):
    files = f"{RESULT}files/"
    assert stranger.get(f"{files}pairs.csv").status_code == 404
    assert f'href="{files}' not in stranger.get(RESULT).text
    publish(published, offers_files=True, by=User.objects.get(username="ada"), **TERMS)
    text = stranger.get(RESULT).text
    for name in ("v1_image_to_caption.json", "v1_caption_to_image.json", "pairs.csv", "gallery.csv"):
        assert f'href="http://testserver{files}{name}"' in text
        served = b"".join(stranger.get(f"{files}{name}").streaming_content)
        assert sha256(served).hexdigest() == published.manifest["files"][name]["sha256"]
    hidden = ("judgments.csv", "reviews.csv", "manifest.json")
    assert {stranger.get(f"{files}{name}").status_code for name in hidden} == {404}
    published.rounds.update(closed_at=None)  # the pairs would reveal its controls
    assert stranger.get(f"{files}pairs.csv").status_code == 404


def test_a_link_has_a_preview_programs_read_a_dataset_and_captions_and_credits_are_escaped(stranger, published):
    Caption.objects.update(text="<script>alert(1)</script>")
    stated = {"title": "</script><i>T</i>", "description": "<b>D</b>", "authors": [{"name": "Ada", "orcid": ""}]}
    Version.objects.update(manifest=published.manifest | {"credits": stated, "licence": "CC-BY-4.0"})
    text = stranger.get(RESULT).text
    picture = f"http://testserver{RESULT}pictures/{examples_of(published)[0].image_id}.jpg"
    assert f'<meta property="og:image" content="{picture}">' in text
    described = json.loads(text.partition('<script type="application/ld+json">')[2].partition("</script>")[0])
    assert (described["@type"], described["name"], described["image"]) == ("Dataset", stated["title"], picture)
    assert described["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert [markup for markup in ("<script>alert", "<i>T", "<b>D") if markup in text] == []
    assert "&lt;i&gt;T&lt;/i&gt;" in text


def test_one_address_opens_the_page_so_often_an_hour(stranger, published, settings):
    cache.clear()
    settings.RESULTS_PER_HOUR = 2
    answers = [stranger.get(RESULT, REMOTE_ADDR="203.0.113.7") for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert "Cache-Control" not in answers[-1]


def test_examples_are_of_different_pictures_best_first(site):
    pairs = [(image, one) for image in site.collection.images.all() for one in site.collection.captions.all()]
    rows = [
        Match(collection=site.collection, source="v1", image=image, caption=caption, score=1, grade=1 + number % 2)
        for number, (image, caption) in enumerate(pairs)
        if caption.image_id != image.pk
    ]
    Match.objects.bulk_create(rows, ignore_conflicts=True)
    found = examples_of(site.version)
    assert len({match.image_id for match in found}) == len(found) == EXAMPLES
    assert [match.grade for match in found] == sorted(match.grade for match in found)
    site.collection.images.filter(pk=found[0].image_id).update(excluded_at="2026-01-01T00:00Z")
    assert found[0].image_id not in {match.image_id for match in examples_of(site.version)}
