"""What the files of a version hold: manifest, checksums, judgments, reviews."""

import hashlib
import json
from datetime import UTC, datetime

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Judgment, Worker
from annotation.work.answers import places_of
from core.errors import CounterpartError
from core.files.stored_files import write_file
from dataset.models import Version
from dataset.releases.credits import Author, Credits, orcid_check_digit, parse_authors
from dataset.releases.verification import verify_version
from dataset.versions.version_files import load_judgments, load_pairs, load_positives
from tests.annotation.cast import answer, candidates, sample_of
from tests.dataset.releasing import allow_percentages, contents, forget_version, read, release
from tests.factories import make_annotator, make_retrieval, make_round, make_worker

pytestmark = pytest.mark.django_db


def test_the_manifest_names_what_the_version_was_made_from(round):
    manifest = release(round).manifest
    assert manifest["rounds"][0]["plan_hash"] == round.plan_hash
    assert manifest["policies"]["ties"] == "median"
    assert manifest["sample"]["name"] == sample_of(round).name
    assert manifest["software"].startswith("counterpart ")
    assert json.loads(read(Version.objects.get(), "manifest.json")) == manifest
    provenance = manifest["provenance"]["round-1"]
    assert provenance["channel"] == "browser"
    assert (provenance["workers"], provenance["answer_sets"]) == (1, {"counted": 1, "excluded": 0})
    assert (provenance["votes"], provenance["pairs_judged"], provenance["unfinished"]) == (2, 2, {})


def test_every_file_has_the_checksum_that_the_manifest_names_and_a_changed_one_is_noticed(round):
    version = release(round)
    assert set(version.manifest["files"]) == {
        *("v1_image_to_caption.json", "v1_caption_to_image.json"),
        *("pairs.csv", "gallery.csv", "reviews.csv", "judgments.csv", "uncounted.csv"),
    }
    for name, described in version.manifest["files"].items():
        assert hashlib.sha256(read(version, name).encode()).hexdigest() == described["sha256"]
    write_file(f"{version.folder}/v1_image_to_caption.json", b"{}")
    with pytest.raises(CounterpartError, match="was changed after"):
        load_positives(version)


def test_pairs_carry_level_votes_sources_and_where_it_may_be_said_a_probability(round, monkeypatch):
    yes, _no = candidates(round.hits.get())
    collection = round.pool.collection
    keys = collection.images.get(pk=yes[0]).key, collection.captions.get(pk=yes[1]).key
    assert ",".join([*keys, "1,1,1,1,0,0,0,1,0,,judged,"]) in read(release(round), "pairs.csv").splitlines()
    allow_percentages(monkeypatch)
    (line,) = [one for one in read(release(round, "v2"), "pairs.csv").splitlines() if one.startswith(",".join(keys))]
    assert 0.5 < float(line.split(",")[-1]) < 1


def test_judgments_are_released_under_fresh_pseudonyms(round):
    worker = Assignment.objects.get().worker.pseudonym
    first, second = (read(release(round, name), "judgments.csv") for name in ("v1", "v2"))
    assert worker not in first + second
    assert first != second


def test_uncounted_judgments_and_controls_are_released_and_marked(round):
    Assignment.objects.update(state="excluded")
    answer(round.hits.get(), 1, 1)
    rows = list(load_judgments(release(round)))
    assert sorted(row.counted for row in rows) == [0] * 4 + [1] * 4
    assert sorted(row.control for row in rows) == [""] * 4 + ["negative"] * 2 + ["positive"] * 2


def test_a_judgment_carries_when_where_and_by_which_guidelines_it_was_given(round):
    Assignment.objects.update(active_seconds=90)
    Judgment.objects.update(at=datetime(2026, 11, 22, 8, 30, tzinfo=UTC), seconds=21)
    rows = list(load_judgments(release(round)))
    places = places_of(Assignment.objects.get())
    item_at = dict(round.hits.get().items.values_list("place", "pk"))
    assert {row.position: item_at[row.place] for row in rows} == places
    assert {(row.at, row.active_seconds, row.seconds, row.wording, row.channel, row.assignment) for row in rows} == {
        ("2026-11-22T08:30:00Z", "90", "21", round.wording, "browser", 1)
    }


def test_simulated_votes_are_marked_on_judgments_pairs_and_counts(round):
    Worker.objects.update(simulated=True)
    version = release(round)
    assert {row.simulated for row in load_judgments(version)} == {1}
    assert {row.simulated_votes for row in load_pairs(version)} == {"", "1"}
    assert version.manifest["counts"]["simulated_votes"] == 2
    assert version.manifest["provenance"]["round-1"]["simulated_votes"] == 2


def test_an_answer_to_a_control_is_not_a_vote_on_the_same_pair(round):
    """A pair may be a candidate of one HIT and a control of another."""
    Worker.objects.update(simulated=True)
    (image, caption), _no = candidates(round.hits.get())
    gold = round.hits.get().items.filter(control__isnull=False).first()
    Judgment.objects.filter(item=gold).update(image=image, caption=caption, worker=make_worker())
    assert release(round).manifest["counts"]["simulated_votes"] == 2


def test_the_manifest_holds_the_protocol(round):
    collection = round.pool.collection
    for key in ("bare-1", "bare-2"):
        collection.images.create(key=key, file_name=f"{key}.jpg")
    protocol = release(round).manifest["protocol"]
    assert (protocol["gallery_images"], protocol["gallery_captions"]) == (
        collection.images.count(),
        collection.captions.count(),
    )
    assert protocol["captions_per_image"] == {"0": 2, "2": collection.images.count() - 2}
    assert len(protocol["gallery_sha256"]) == 64


def test_the_manifest_holds_the_label_error_of_each_polarity(round):
    """By hand: one good answer set, and an excluded one that is wrong on its negative control."""
    other = make_round(round.pool.collection, name="round-2", candidates=2)
    careless = answer(other.hits.get(), 1, 1, state="excluded")
    Judgment.objects.filter(assignment=careless, item__control__polarity="negative").update(level=2)
    errors = release(round, rounds=[round, other], partial=True).manifest["label_errors"]
    assert errors == {
        "positive": {"answers": 2, "wrong": 0, "counted_answers": 1, "counted_wrong": 0},
        "negative": {"answers": 2, "wrong": 1, "counted_answers": 1, "counted_wrong": 0},
    }


def test_the_same_release_made_again_is_the_same_to_the_byte(round):
    first = contents(release(round))
    forget_version()
    assert contents(release(round)) == first


# Who made a version and how it is cited: what is checked, and where a release keeps it


RELEASE = ("release", "v1", "--collection", "zoo", "--queries", "queries-zoo", "--rounds", "round-1")
ADA = "Ada Lovelace <0000-0001-5000-0007>"


def test_authors_are_read_with_and_without_an_orcid_id():
    spelled = "Ada Lovelace <https://orcid.org/0000-0001-5000-0007> ;Alan Turing; "
    assert parse_authors(spelled) == [Author("Ada Lovelace", "0000-0001-5000-0007"), Author("Alan Turing")]
    assert Credits(authors=spelled).authors == f"{ADA}; Alan Turing"


def test_the_check_digit_is_that_of_published_orcid_ids_and_fits_its_definition():
    # The examples of ORCID's own documentation.
    for orcid in ("0000-0002-1825-0097", "0000-0001-5109-3700", "0000-0002-1694-233X", "0000-0001-5000-0007"):
        digits = orcid.replace("-", "")
        assert orcid_check_digit(digits[:15]) == digits[15]
    for number in range(0, 10**15, 10**15 // 997):
        digits = [*f"{number:015}", orcid_check_digit(f"{number:015}")]
        values = [10 if digit == "X" else int(digit) for digit in digits]
        # ISO/IEC 7064: the weighted sum of all digits, weights 2^15 … 2^0, is 1 modulo 11.
        assert sum(value * 2**place for value, place in zip(values, range(15, -1, -1), strict=True)) % 11 == 1


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("authors", "Ada <0000-0001-5000-0008>", "the ORCID iD 0000-0001-5000-0008 of Ada has a wrong check digit"),
        ("authors", "Ada <5000-0007>", "ORCID iD '5000-0007' of Ada"),
        ("authors", "<0000-0001-5000-0007>", "<0000-0001-5000-0007>"),
        ("authors", "Ada <0000-0001-5000-0007", "Ada <0000-0001-5000-0007"),
        ("authors", f"{ADA}; {ADA}", "more than one author has the ORCID iD 0000-0001-5000-0007"),
        ("url", "example.org/v1", "write an address as https://example.org/v1, or a DOI"),
        ("url", "javascript:alert(1)", "write an address"),
        ("contact", "me", "write an e-mail or web address"),
        ("title", "two\nlines", "use one line"),
        ("description", "a\x07bell", "remove the control characters"),
        ("title", "x" * 201, "at most 200 characters"),
    ],
)
def test_what_is_wrong_is_named(part, value, message):
    with pytest.raises(CounterpartError, match=f"{part} .*{message}"):
        Credits(**{part: value})


@pytest.mark.parametrize("doi", ["10.5281/zenodo.7", "doi:10.5281/zenodo.7", "https://doi.org/10.5281/zenodo.7"])
def test_a_doi_becomes_its_address(doi):
    assert Credits(url=doi).url == "https://doi.org/10.5281/zenodo.7"


def test_the_command_takes_them(round):
    about = {"title": "Zoo matches", "authors": ADA, "description": "Animals.", "url": "10.5281/zenodo.7"}
    about |= {"contact": "ada@example.org", "licence": "CC-BY-4.0", "citation": "Lovelace, Zoo matches."}
    call_command(*RELEASE, **about)
    version = Version.objects.get()
    assert {check.name for check in verify_version(version) if check.passed} >= {"files", "contents"}
    assert version.manifest["licence"] == "CC-BY-4.0"
    assert version.manifest["credits"] == {
        "title": "Zoo matches",
        "authors": [{"name": "Ada Lovelace", "orcid": "0000-0001-5000-0007"}],
        "description": "Animals.",
        "url": "https://doi.org/10.5281/zenodo.7",
        "contact": "ada@example.org",
        "citation": "Lovelace, Zoo matches.",
    }


def test_the_manifest_describes_each_annotator_behind_the_rounds_but_no_address_and_no_unknown_kind(round):
    used = make_annotator("clip", "clip", checkpoint="weights.npz", embed=512, tokeniser="/home/ada/merges.txt")
    type(used).objects.filter(pk=used.pk).update(checksum="c" * 64, source="Radford et al.", licence="MIT")
    first = make_annotator("words")
    make_annotator("idle")
    retrieval = make_retrieval(used, round.pool.sample)
    type(retrieval).objects.filter(pk=retrieval.pk).update(cascade=first)
    round.pool.retrievals.add(retrieval)
    options = {"endpoint": "http://10.0.0.7/v1", "model": "seer"}
    for name, kind in (("seer", "vlm"), ("gone", "uninstalled")):
        round.pool.retrievals.add(make_retrieval(make_annotator(name, kind, **options), round.pool.sample))
    described = release(round).manifest["annotators"]
    assert list(described) == ["clip", "gone", "seer", "words"]
    assert described["seer"]["options"] == {"model": "seer"}
    assert described["gone"]["options"] == {}
    assert described["clip"] == {
        "kind": "clip",
        "options": {"embed": 512, "tokeniser": "merges.txt"},
        "checkpoint_sha256": "c" * 64,
        "source": "Radford et al.",
        "licence": "MIT",
    }


def test_the_manifest_holds_the_guides_that_its_answers_were_given_under(round):
    assert "guides" not in release(round).manifest["rounds"][0]
    example = {"image": None, "level": 1, "sentence": "A cat.", "why": "It is."}
    round.consent_words.create(levels={"1": ["Fits", "It fits."]}, examples=[example], by="robin")
    (guide,) = release(round, "v2").manifest["rounds"][0]["guides"]
    assert (guide["levels"], guide["examples"]) == ({"1": ["Fits", "It fits."]}, [example])
