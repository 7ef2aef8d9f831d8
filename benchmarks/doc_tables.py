"""The tables that benchmarks write into the documentation, each between two marks."""

from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
END = "<!-- Until here. -->\n"


def write_tables(command: str, text: str, *, page: str = "benchmarks.md") -> None:
    """Replace the tables that ``python -m benchmarks.COMMAND`` wrote into a page before."""
    path = DOCS / page
    path.write_text(with_tables(path.read_text(), command, text))


def with_tables(page: str, command: str, text: str) -> str:
    """Return the page with these tables in place of those between the marks of a command."""
    begin = f"<!-- Written by python -m benchmarks.{command}. -->\n"
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text.strip()}\n\n{END}{rest.split(END, 1)[1]}"
