"""How to cite a version, for cards, metadata and ``CITATION.cff``. Everything comes from the version's manifest."""

import re
from pathlib import Path

import yaml

from dataset.exports.licences import licence_url, spdx_id
from dataset.models import Version
from dataset.releases.credits import DOI, authors_of, credits_of, title_of

CITATION = "CITATION.cff"
_NUMBERS = re.compile(r"v?(\d+)(?:[-_](\d+))?(?:[-_](\d+))?", re.ASCII | re.IGNORECASE)


def missing_credits(version: Version) -> list[str]:
    """Return the names of the credits that the release did not get."""
    details = {**credits_of(version), "licence": version.manifest["licence"]}
    wanted = {
        "title": "title",
        "authors": "authors",
        "description": "description",
        "url": "URL or DOI",
        "contact": "contact",
        "licence": "licence",
    }
    return [word for name, word in wanted.items() if not details.get(name)]


def citation_of(version: Version) -> str:
    """Return the citation that the release got, otherwise BibTeX of title and authors; empty without authors."""
    details = credits_of(version)
    return str(details.get("citation", "")) or (bibtex_of(version) if authors_of(version) else "")


def bibtex_of(version: Version, *, url: str = "") -> str:
    """Return a BibTeX entry of the release's credits; ``url`` is used if they have no address."""
    details = credits_of(version)
    fields = {
        "title": title_of(version),
        "author": " and ".join(f"{{{author.name}}}" for author in authors_of(version)),
        "year": str(version.released_at.year),
        "note": f"Version {version.name}",
        "url": details.get("url", url),
    }
    lines = (f"  {name} = {{{text}}},\n" for name, text in fields.items() if text)
    return f"@misc{{{version.name},\n{''.join(lines)}}}"


def semantic_version(name: str) -> str:
    """Return a version's name as MAJOR.MINOR.PATCH, which Croissant wants: ``v2`` is 2.0.0, ``v2-1`` is 2.1.0; a name
    without a number follows a plus, as in ``1.0.0+zoo``."""
    if numbers := _NUMBERS.fullmatch(name):
        return ".".join(str(int(number or 0)) for number in numbers.groups())
    return f"1.0.0+{name.replace('_', '-')}"


def write_citation_file(version: Version, folder: Path) -> None:
    """Write ``CITATION.cff`` (Citation File Format 1.2.0), which wants authors: without any, nothing is written."""
    authors = authors_of(version)
    details = credits_of(version)
    if not authors:
        return
    citation = details.get("citation")
    described = {
        "cff-version": "1.2.0",
        "message": f"Please cite this dataset as: {citation}" if citation else "Please cite this dataset as below.",
        "type": "dataset",
        "title": title_of(version),
        # As entities: the format wants persons to have a family name and a given name; we have one text.
        "authors": [
            {"name": author.name, **({"orcid": author.orcid_url} if author.orcid else {})} for author in authors
        ],
        "version": version.name,
        "date-released": version.released_at.date().isoformat(),
        **({"abstract": details["description"]} if "description" in details else {}),
        **_place(details.get("url", "")),
        **_licence(version.manifest["licence"]),
        **_contact(details.get("contact", "")),
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
