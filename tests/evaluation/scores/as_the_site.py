"""The scorer outside the site and the site's command, both on one version, with one file of rankings."""

import json
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from counterpart_metrics.__main__ import main
from counterpart_metrics.policies import MISSING, TIES
from dataset.exports import export_version
from dataset.models import Version
from tests.commands import output_of

POLICIES = [pair for pair in product(TIES, MISSING) if pair != ("interval", "interval")]
FORMATS = ("eccv-json", "qrels")
TABLES = ("mteb", "parquet", "hf")
FIGURE = ("value", "low", "high", "queries")


def assert_as_the_site(
    version: Version, rankings: Path, folder: Path, *, policies: list = POLICIES, formats: tuple = FORMATS
) -> set[str]:
    """Compare every figure under all policies, from each format that has positives; return what both refused."""
    refused = set()
    for format in formats:
        export_version(version, format=format, out=folder / format)
    for ties, missing in policies:
        words = ["--json", "--ties", ties, "--missing", missing]
        theirs = outcome(
            lambda words=words: output_of("evaluate", "--version", version, "--rankings", rankings, *words)
        )
        for format in formats:
            ours = outcome(lambda words=words, format=format: printed(folder / format, rankings, *words))
            assert type(ours) is type(theirs), (ours, theirs)
            if isinstance(ours, str):
                assert reason(ours) == reason(theirs)
                refused.add(f"{ties} {missing}")
                continue
            assert ours.keys() == theirs.keys()
            for model in ours:
                assert ours[model]["notes"] == theirs[model]["notes"]
                assert flat(ours[model]) == pytest.approx(flat(theirs[model]), abs=1e-12)
    return refused


def printed(export: Path, *words: object) -> str:
    """What ``python -m counterpart_metrics`` prints."""
    out = StringIO()
    with redirect_stdout(out):
        main([str(export), *map(str, words)])
    return out.getvalue()


def outcome(act: Callable[[], str]) -> Any:
    try:
        return json.loads(act())
    except CommandError as error:
        return str(error)
    except SystemExit as error:
        return str(error.code).removeprefix("counterpart_metrics: ")


def reason(refusal: str) -> str:
    """Without an example, which depends on the order of queries."""
    return refusal.partition(", for example")[0]


def flat(parts: dict[str, dict[str, dict[str, Any]]]) -> dict[tuple[str, str, str], float]:
    return {
        (part, metric, name): figure[name]
        for part, metrics in parts.items()
        if part != "notes"
        for metric, figure in metrics.items()
        for name in FIGURE
    }
