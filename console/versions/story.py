"""What a version is, for its page and its public page: new matches, the change of the ranking, how far to trust
it, its citation, and its description for programs."""

import json
from functools import partial
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from console.kept_figures import kept_if_slow
from console.rounds.figures import level_bar
from console.trust.trust_figures import stored_trust, trust_sentences
from dataset.exports import statements
from dataset.exports.citing import bibtex_of, citation_of
from dataset.exports.licences import licence_url
from dataset.models import Version
from dataset.publications import examples_of
from dataset.releases.credits import authors_of, credits_of, title_of
from evaluation.models import Score
from evaluation.scores.leaderboard import board_of
from evaluation.scores.moves import ranks_of
from hits.question import Level
from mitl.charts.drawing import Chart
from mitl.charts.lines import rank_chart
from mitl.models import Direction

METRIC = "R@1"
"""The metric whose ranking is drawn."""
ORIGINAL = "original pairs"
IN_SCRIPT = {ord("<"): "\\u003C", ord(">"): "\\u003E", ord("&"): "\\u0026"}


def story_of(version: Version, address: str) -> dict[str, Any]:
    """Return what both pages show; ``address`` is that of the public one, and cited unless the credits have another."""
    by_level = version.manifest["counts"].get("judged_by_level", {})
    return {
        "version": version,
        "title": title_of(version),
        "credits": credits_of(version),
        "authors": authors_of(version),
        "citation": citation_of(version) or bibtex_of(version, url=address),
        "simulated": statements.simulated_votes(version) if version.manifest["counts"]["simulated_votes"] else "",
        "facts": statements.facts(version),
        "examples": examples_of(version),
        "ranking": ranking_chart(version),
        "metric": METRIC,
        "trust": trust_sentences(version, stored_trust(version)),
        "levels": level_bar({int(level): n for level, n in by_level.items()}, {one.value: one.brief for one in Level}),
        "board": kept_if_slow(f"result-board:{version.pk}", partial(board_of, version)).figures,
    }


def ranking_chart(version: Version) -> Chart | None:
    """Draw the ranks of the models on the original pairs and on the version; None for fewer than two models."""
    scores = Score.objects.filter(version=version, metric=METRIC, original__isnull=False).select_related("run")
    sides = dict[str, dict[str, Score]]()
    for one in scores.order_by("run__created_at", "run_id"):
        sides.setdefault(one.run.model, {})[one.direction] = one
    values = {
        model: {
            ORIGINAL: sum(one.original or 0.0 for one in theirs.values()),
            version.name: sum(one.value for one in theirs.values()),
        }
        for model, theirs in sides.items()
        if len(theirs) == len(Direction)
    }
    return rank_chart([ORIGINAL, version.name], ranks_of(values), "") if len(values) > 1 else None


def described_for_programs(story: dict[str, Any], address: str, files: dict[str, str], picture: str) -> SafeString:
    """Return the version as a ``Dataset`` of schema.org, for a script element; ``files`` are addresses of files
    by name, and ``picture`` is one of an example, or empty."""
    version = story["version"]
    details = story["credits"]
    licence = version.manifest.get("licence", "")
    described = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": story["title"],
        "description": details.get("description") or summary_of(version),
        "url": address,
        "identifier": details.get("url", ""),
        "version": version.name,
        "datePublished": version.released_at.date().isoformat(),
        "license": licence_url(licence) or licence,
        "creator": [{"@type": "Person", "name": one.name, "sameAs": one.orcid_url} for one in story["authors"]],
        "citation": story["citation"],
        "image": picture,
        "distribution": [
            {"@type": "DataDownload", "name": name, "contentUrl": url, "encodingFormat": _media_type(name)}
            for name, url in files.items()
        ],
    }
    text = json.dumps({name: value for name, value in described.items() if value}, ensure_ascii=False)
    return mark_safe(text.translate(IN_SCRIPT))  # noqa: S308


def summary_of(version: Version) -> str:
    """Describe the version in a sentence, where its credits do not."""
    counts = version.manifest["counts"]
    return (
        f"{counts['positives']:,} matches between the images and captions of {version.collection}; people judged "
        f"{counts['judged']:,} pairs."
    )


def _media_type(name: str) -> str:
    return "text/csv" if name.endswith(".csv") else "application/json"
