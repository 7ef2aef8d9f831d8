"""The card of a version: a README that goes with every export and describes the files of its folder."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from counterpart_metrics.exported import is_scored_on
from dataset.exports import statements
from dataset.exports.citing import citation_of, missing_credits
from dataset.exports.columns import meaning_of
from dataset.models import Version
from dataset.releases.credits import authors_of, credits_of, title_of
from dataset.versions.version_files import kept_guards, sha256_of

GUARD = (
    "Unjudged pairs count as no match, so that scores on this version are biased. A guarded score is the counted one, "
    "moved towards the estimate of the audit of random queries as far as the audit can show that the two differ; its "
    "interval is of what judging all of these queries would say. As counted: the audit cannot distinguish the two."
)
SCORER = (
    "`pip install counterpart-metrics`, then `python -m counterpart_metrics FOLDER RANKINGS`: the figures of the "
    "site's leaderboard, with NumPy alone."
)


def card(version: Version, files: Mapping[str, Path]) -> str:
    """Return the card as Markdown. ``files``: the current path of each file of the export, by its name in it."""
    manifest = version.manifest
    attribution = credits_of(version)
    columns = {name: columns_of(path) for name, path in files.items()}
    return "\n".join(
        [
            f"# {title_of(version)}",
            "",
            f"Version {version.name}: judged matches between images and captions of the collection "
            f"{manifest['collection']}, released with {manifest['software']}.",
            "",
            *([attribution["description"], ""] if "description" in attribution else []),
            f"**{statements.simulated_votes(version)}**",
            "",
            "| | |",
            "|---|---|",
            *(f"| {name} | {figure:,} |" for name, figure in statements.facts(version).items()),
            *_section("How to cite", _credits(version)),
            *_quoted(citation_of(version)),
            *_section("Labels", statements.labels()),
            *_section("Who judged", [*statements.workers(version), *statements.pay(version)]),
            *_section("Annotators: the models that proposed the pairs", statements.annotators(version)),
            *_section("Agreement", [statements.agreement(version)] if manifest["rounds"] else []),
            *_section("Certainty", statements.certainty(version)),
            *_section("Known biases", statements.biases(version)),
            *_section("Limits", statements.limits(version)),
            *_guards(version),
            *_section("How to score a model", [SCORER] if any(is_scored_on(name) for name in files) else []),
            *_section("Files", (_file(name, path, columns[name]) for name, path in files.items())),
            *_section("Columns", _meanings(columns.values())),
            "",
        ]
    )


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files below a folder, by their path in it."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def columns_of(path: Path) -> list[pa.Field]:
    """Return the columns of a Parquet or CSV file, the latter as texts; nothing for other files."""
    if path.suffix == ".parquet":
        return list(parquet.read_schema(path))
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return [pa.field(name, pa.string()) for name in next(csv.reader(file))]
    return []


def _credits(version: Version) -> Iterable[str]:
    details = credits_of(version)
    authors = [f"[{one.name}]({one.orcid_url})" if one.orcid else one.name for one in authors_of(version)]
    lines = {
        "Authors": ", ".join(authors),
        "Found at": details.get("url", ""),
        "Contact": details.get("contact", ""),
        "Licence": version.manifest["licence"],
        "Not stated": ", ".join(missing_credits(version)),
    }
    return (f"{name}: {text}." if name == "Not stated" else f"{name}: {text}" for name, text in lines.items() if text)


def _quoted(text: str) -> list[str]:
    return ["", "Please cite it as:", "", *(f"    {line}" for line in text.splitlines())] if text else []


def _file(name: str, path: Path, columns: list[pa.Field]) -> str:
    listed = f"; columns {', '.join(f'`{column.name}`' for column in columns)}" if columns else ""
    return f"`{name}`: SHA-256 {sha256_of(path)}{listed}"


def _meanings(tables: Iterable[list[pa.Field]]) -> Iterable[str]:
    """Return the meaning of every column that the files have, once."""
    meanings = {(column.name, meaning_of(column)) for columns in tables for column in columns}
    return (f"`{name}`: {meaning}" for name, meaning in sorted(meanings) if meaning)


def _guards(version: Version) -> Iterator[str]:
    """Yield what audits say of the scores of a version with likely matches; nothing of another one."""
    small = [f"Round {one['name']}: guard: {one['guard']}." for one in version.manifest["rounds"] if "guard" in one]
    kept = kept_guards(version)
    if not small and kept is None:
        return
    yield from _section("Guard of the scores", [*small, GUARD])
    for one in kept or []:
        yield from ("", f"Round {one['round']}:", "")
        yield from _guard_table(one["rows"]) if one["rows"] else [one["trouble"]]


def _guard_table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield "| model | metric | direction | counted | guarded | 95% interval | |"
    yield "|---|---|---|---|---|---|---|"
    for one in rows:
        yield (
            f"| {one['model']} | {one['metric']} | {one['direction']} | {one['counted']:.3f} | {one['guarded']:.3f} "
            f"| {one['low']:.3f} to {one['high']:.3f} | {'' if one['weight'] else 'as counted'} |"
        )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    listed = [f"- {line}" for line in lines]
    return ["", f"## {title}", "", *listed] if listed else []
