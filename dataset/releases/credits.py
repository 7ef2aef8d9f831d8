"""Who made a version, where it is found, and how to cite it: the credits that a release gets and its manifest keeps."""

import re
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, RegexValidator, URLValidator

from core.parameters import Parameters
from core.text import trimmed
from dataset.models import Version

ORCID = "https://orcid.org/"
DOI = "https://doi.org/"
_AUTHOR = re.compile(r"(?P<name>[^<>]+?)\s*(?:<\s*(?P<orcid>[^<>]+?)\s*>)?")
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", re.ASCII)
_DOI = re.compile(rf"(?:doi:\s*|{DOI})?(10\.\d{{4,9}}/[-._;()/:a-z0-9]+)", re.ASCII | re.IGNORECASE)
_is_web_address = URLValidator(schemes=["http", "https"])
_is_one_line = RegexValidator(r"^[^\x00-\x1f\x7f]*\Z", "Use one line without control characters.")
_is_text = RegexValidator(r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*\Z", "Remove the control characters.")


@dataclass(frozen=True)
class Author:
    """An author, with their ORCID iD (``0000-0001-5000-0007``) if it is known."""

    name: str
    orcid: str = ""

    @property
    def orcid_url(self) -> str:
        """The address of the ORCID record; empty without an ORCID iD."""
        return ORCID + self.orcid if self.orcid else ""

    def __str__(self) -> str:
        return f"{self.name} <{self.orcid}>" if self.orcid else self.name


def parse_authors(text: str) -> list[Author]:
    """Read ``Ada Lovelace <0000-0001-5000-0007>; Alan Turing``. Raises ValidationError for text that is not an author,
    an invalid ORCID iD and one that two authors have."""
    authors = [_author(part.strip()) for part in text.split(";") if trimmed(part)]
    known = [author.orcid for author in authors if author.orcid]
    if doubled := sorted({orcid for orcid in known if known.count(orcid) > 1}):
        raise ValidationError(f"More than one author has the ORCID iD {doubled[0]}.")
    return authors


def orcid_check_digit(digits: str) -> str:
    """Return the last character of an ORCID iD with these 15 digits (ISO/IEC 7064, MOD 11-2)."""
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11]


def _author(text: str) -> Author:
    found = _AUTHOR.fullmatch(text)
    if found is None:
        raise ValidationError(f"{text!r} is not an author; write “Ada Lovelace <0000-0001-5000-0007>; Alan Turing”.")
    orcid = (found["orcid"] or "").removeprefix(ORCID)
    if orcid and not _ORCID.fullmatch(orcid):
        raise ValidationError(f"The ORCID iD {orcid!r} of {found['name']} is not of the form 0000-0001-5000-0007.")
    if orcid and orcid[-1] != orcid_check_digit(orcid[:-1].replace("-", "")):
        raise ValidationError(f"The ORCID iD {orcid} of {found['name']} has a wrong check digit; copy it again.")
    return Author(found["name"], orcid)


class AuthorsField(forms.CharField):
    """Authors as ``parse_authors`` reads them; cleaned to the same text."""

    metavar = "NAME <ORCID>; NAME"

    def clean(self, value: Any) -> str:
        return "; ".join(map(str, parse_authors(super().clean(value))))


class LinkField(forms.CharField):
    """A web address or a DOI; a DOI is cleaned to its address."""

    metavar = "URL|DOI"

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if doi := _DOI.fullmatch(text):
            return DOI + doi[1]
        return _checked(text, [_is_web_address], "Write an address as https://example.org/v1, or a DOI as 10.1234/v1.")


class ContactField(forms.CharField):
    """An e-mail address or a web address."""

    metavar = "EMAIL|URL"

    def clean(self, value: Any) -> str:
        return _checked(super().clean(value), [EmailValidator(), _is_web_address], "Write an e-mail or web address.")


def _checked(text: str, rules: list[Any], message: str) -> str:
    """Return a text that is empty or fits one of the rules."""
    if not text:
        return text
    for rule in rules:
        with suppress(ValidationError):
            rule(text)
            return text
    raise ValidationError(message)


def _line(field: type[forms.CharField], help_text: str, at_most: int, label: str | None = None) -> forms.CharField:
    return field(required=False, max_length=at_most, validators=[_is_one_line], help_text=help_text, label=label)


def _text(help_text: str, at_most: int) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 3})
    return forms.CharField(
        required=False, max_length=at_most, validators=[_is_text], help_text=help_text, widget=widget
    )


class Credits(Parameters):
    """What a version's users need to cite it. Every part may be empty."""

    title: Annotated[str, _line(forms.CharField, "title of the dataset", 200)] = ""
    authors: Annotated[
        str,
        _line(
            AuthorsField,
            "authors with their ORCID iDs, as in “Ada Lovelace <0000-0001-5000-0007>; Alan Turing”",
            2_000,
        ),
    ] = ""
    description: Annotated[str, _text("what the dataset is, in a few sentences", 5_000)] = ""
    url: Annotated[str, _line(LinkField, "where the dataset is found: a web address or a DOI", 400, "URL or DOI")] = ""
    contact: Annotated[str, _line(ContactField, "e-mail or web address for questions", 200)] = ""
    licence: Annotated[str, _line(forms.CharField, "licence of the version, as in CC-BY-4.0", 200)] = ""
    citation: Annotated[
        str, _text("how to cite it: BibTeX or a sentence (default: made of title and authors)", 5_000)
    ] = ""

    def in_manifest(self) -> dict[str, Any]:
        """Return what was given, without the licence, which has its own place in a manifest."""
        texts: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(Credits) if one.name != "licence"}
        texts = {name: text for name, text in texts.items() if text}
        if self.authors:
            texts["authors"] = [asdict(author) for author in parse_authors(self.authors)]
        return texts


def credits_of(version: Version) -> dict[str, Any]:
    """Return the credits that the release got; versions from before 0.4.0 have none."""
    return dict(version.manifest.get("credits", {}))


def title_of(version: Version) -> str:
    """Return the title, by default the version's name."""
    return str(credits_of(version).get("title", version.name))


def authors_of(version: Version) -> list[Author]:
    return [Author(**author) for author in credits_of(version).get("authors", [])]
