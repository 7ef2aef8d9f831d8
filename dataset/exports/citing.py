"""How a version is cited, as cards, metadata and ``CITATION.cff`` tell it. All comes from the version's manifest."""

import re
from pathlib import Path
from typing import Any

import yaml

from dataset.exports.licences import licence_url, spdx_id
from dataset.models import Version
from dataset.releases.credits import DOI, Author

CITATION = "CITATION.cff"
_NUMBERS = re.compile(r"v?(\d+)(?:[-_](\d+))?(?:[-_](\d+))?", re.ASCII | re.IGNORECASE)


def credits_of(version: Version) -> dict[str, Any]:
    """Return what the release was told; versions of before 0.4.0 were told nothing but a licence."""
    return dict(version.manifest.get("credits", {}))


def title_of(version: Version) -> str:
    """Return the title, by default the version's name."""
    return str(credits_of(version).get("title", version.name))


def authors_of(version: Version) -> list[Author]:
    return [Author(**author) for author in credits_of(version).get("authors", [])]


def missing_credits(version: Version) -> list[str]:
    """Return what the release was not told, in words."""
    told = {**credits_of(version), "licence": version.manifest["licence"]}
    wanted = {
        "title": "title",
        "authors": "authors",
        "description": "description",
        "url": "URL or DOI",
        "contact": "contact",
        "licence": "licence",
    }
    return [word for name, word in wanted.items() if not told.get(name)]


def citation_of(version: Version) -> str:
    """Return the citation that the release was told, otherwise BibTeX of title and authors; empty without authors."""
    told = credits_of(version)
    return str(told.get("citation", "")) or (bibtex_of(version) if authors_of(version) else "")


def bibtex_of(version: Version, *, url: str = "") -> str:
    """Return a BibTeX entry of what the release was told; ``url`` stands in where it was told no address."""
    told = credits_of(version)
    fields = {
        "title": title_of(version),
        "author": " and ".join(f"{{{author.name}}}" for author in authors_of(version)),
        "year": str(version.released_at.year),
        "note": f"Version {version.name}",
        "url": told.get("url", url),
    }
    lines = (f"  {name} = {{{text}}},\n" for name, text in fields.items() if text)
    return f"@misc{{{version.name},\n{''.join(lines)}}}"


def semantic_version(name: str) -> str:
    """Return a version's name as MAJOR.MINOR.PATCH, which Croissant wants: ``v2`` is 2.0.0, ``v2-1`` is 2.1.0; a name
    that is no number stands behind a plus, as in ``1.0.0+zoo``."""
    if numbers := _NUMBERS.fullmatch(name):
        return ".".join(str(int(number or 0)) for number in numbers.groups())
    return f"1.0.0+{name.replace('_', '-')}"


def write_citation_file(version: Version, folder: Path) -> None:
    """Write ``CITATION.cff`` (Citation File Format 1.2.0), which wants authors: without any, nothing is written."""
    authors, told = authors_of(version), credits_of(version)
    if not authors:
        return
    citation = told.get("citation")
    described = {
        "cff-version": "1.2.0",
        "message": f"Please cite this dataset as: {citation}" if citation else "Please cite this dataset as below.",
        "type": "dataset",
        "title": title_of(version),
        # As entities: the format wants family and given names of persons, which a name does not tell.
        "authors": [
            {"name": author.name, **({"orcid": author.orcid_url} if author.orcid else {})} for author in authors
        ],
        "version": version.name,
        "date-released": version.released_at.date().isoformat(),
        **({"abstract": told["description"]} if "description" in told else {}),
        **_place(told.get("url", "")),
        **_licence(version.manifest["licence"]),
        **_contact(told.get("contact", "")),
    }
    text = yaml.safe_dump(described, sort_keys=False, allow_unicode=True)
    (folder / CITATION).write_text(text, encoding="utf-8")


def _place(url: str) -> dict[str, str]:
    if url.startswith(DOI):
        return {"doi": url.removeprefix(DOI)}
    return {"url": url} if url else {}


def _licence(licence: str) -> dict[str, str]:
    if known := spdx_id(licence):
        return {"license": known}
    return {"license-url": url} if (url := licence_url(licence)) else {}


def _contact(contact: str) -> dict[str, list[dict[str, str]]]:
    if not contact:
        return {}
    return {"contact": [{"website" if contact.startswith(("https://", "http://")) else "email": contact}]}
