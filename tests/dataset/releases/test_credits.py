"""Who made a version and how it is cited: what is checked, and where a release keeps it."""

import pytest
from django.core.management import call_command

from core.errors import CounterpartError
from dataset.models import Version
from dataset.releases.credits import Author, Credits, orcid_check_digit, parse_authors
from dataset.releases.verification import verify_version
from tests.dataset.releasing import release
from tests.factories import make_annotator, make_retrieval

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


pytestmark = pytest.mark.django_db


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
