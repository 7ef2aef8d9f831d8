"""The card of a version: a README that goes with every export."""

from collections.abc import Iterable

from dataset.exports import statements
from dataset.exports.columns import COLUMNS
from dataset.models import Version


def card(version: Version) -> str:
    """Return the card as Markdown."""
    manifest = version.manifest
    return "\n".join(
        [
            f"# {version.name}",
            "",
            f"Judged matches between images and captions of the collection {manifest['collection']}, released by "
            f"{manifest['software']}. Licence: {manifest['licence'] or 'not stated'}.",
            "",
            f"**{statements.simulated_votes(version)}**",
            "",
            "| | |",
            "|---|---|",
            *(f"| {name} | {figure:,} |" for name, figure in statements.facts(version).items()),
            "",
            "## Labels",
            "",
            "Levels: 1 = 100% YES, 2 = Partially YES, 3 = Mostly NO, 4 = 100% NO.",
            "",
            *(f"- `{name}`: {COLUMNS[name]}" for name in ("positive", "strict", "gain", "confidence")),
            *_section("Who judged", [*statements.annotators(version), *statements.pay(version)]),
            *_section("Agreement", [statements.agreement(version)] if manifest["rounds"] else []),
            *_section("Known biases", statements.biases(version)),
            *_section("Limits", statements.limits(version)),
            *_section("Files", (f"`{name}`: SHA-256 {file['sha256']}" for name, file in manifest["files"].items())),
            "",
        ]
    )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    listed = [f"- {line}" for line in lines]
    return ["", f"## {title}", "", *listed] if listed else []
