"""The figures of a run, as text and as its section of docs/reliability.md."""

import os
from datetime import date
from pathlib import Path

import django

from tests.chaos.run import Outcome

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL and Redis"}


def text_of(outcome: Outcome) -> str:
    """Return Markdown: what was killed, what the crowd met, what was found."""
    counts, figures = outcome.counts, outcome.figures
    kinds = "\n".join(f"| {kind} | {number} |" for kind, number in sorted(outcome.kinds.items()))
    others = len(outcome.found) - sum(outcome.of(kind) for kind in ("lost", "altered", "partial", "doubled"))
    deaths = ", ".join(f"{name} {number}" for name, number in outcome.deaths.items()) or "none"
    unable = f"\nNot possible here: {', '.join(sorted(outcome.unable))}.\n" if outcome.unable else ""
    return f"""### {NAMES[outcome.engine]}

{len(outcome.cuts)} kills and cuts, seed {outcome.seed}, in {outcome.seconds:.0f} seconds, {outcome.checking:.0f} of
them in checks; {date.today()}, Django {django.__version__}, {os.cpu_count()} cores, shared.

| killed or cut | times |
|---|---|
{kinds}
{unable}
| figure | |
|---|---|
| submissions refused | {counts["refused"]} |
| submissions sent | {figures["sent"]} |
| acknowledged | {figures["acknowledged"]} |
| of them on the emulated platform | {counts["acknowledged on the platform"]} |
| stored | {figures["submitted"]} |
| requests that failed and were repeated | {counts["errors retried"] + counts["HTTP 500"]} |
| HTTP 500 among them | {counts["HTTP 500"]} |
| versions released meanwhile | {figures["releases"]} |
| jobs lost and sent again | {figures["lost jobs"]} |
| calls to the platform | {figures["calls"]} |
| processes that ended by themselves | {deaths} |
| **lost** | **{outcome.of("lost")}** |
| **altered or in part** | **{outcome.of("altered") + outcome.of("partial")}** |
| **doubled** | **{outcome.of("doubled")}** |
| **other violations** | **{others}** |
"""


def write(file: Path, outcome: Outcome) -> None:
    """Put the section of the engine into the file, between its marks."""
    begin, end = f"<!-- chaos {outcome.engine} -->\n", f"<!-- end of {outcome.engine} -->\n"
    before, _, rest = file.read_text().partition(begin)
    _, _, after = rest.partition(end)
    file.write_text(before + begin + text_of(outcome) + end + after)
