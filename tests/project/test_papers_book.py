"""The papers' book, docs/papers.md, has a row for every numbered table and figure of the five papers."""

import re
from types import SimpleNamespace

import pytest

from benchmarks.papers.__main__ import CHAPTERS, parts
from benchmarks.papers.book import SLOT, Made, Row, computed, markdown, rows_of, summary
from tests.project.names import ROOT

SEEDS = ROOT.parent / "shared" / "seeds"
MENTION = re.compile(r"(Figure|Fig\.|Table|Algorithm)s? ([A-F]?\.?\d+)")


def numbers(kind: str, text: str) -> set[str]:
    return {f"{kind} {number}" for number in text.split()}


BOOK = {
    "eccv-text": numbers("figure", "1 2 3 4 5") | numbers("table", "1 2 3 4 5"),
    "eccv-appendix": numbers("figure", "A.1 B.1 C.1 C.2 D.1 D.2 E.1 E.2 E.3 F.1")
    | numbers("table", "A.1 B.1 B.2 B.3 D.1 D.2 D.3 E.1"),
    "hubs": numbers("figure", "1 2 3 4") | numbers("table", "1 2 3 4") | {"algorithm 1"},
    "ranking-task": numbers("figure", "1 2 3 4") | numbers("table", "1 2 3 4 5 6 7 8 9 10 11 12"),
    "active-rounds": numbers("figure", "1 2 3 4") | numbers("table", "1 2 3 4 A1 A2 A3 A4")
    | numbers("algorithm", "1 2"),
}  # fmt: skip
TEXTS = {"000": "eccv-text", "002": "eccv-appendix", "001": "hubs", "003": "ranking-task", "004": "active-rounds"}
CHAPTER = """## One

|item|paper|ours|command|input|status|
|---|---|---|---|---|---|
|table A.1: sizes|7|{}|`release`|drawn|drawn data: small|
|figure 2: a diagram|-|the same|`show`|none|equal|
"""


@pytest.mark.parametrize(("text", "chapter"), TEXTS.items())
def test_a_chapter_has_the_numbers_that_its_paper_mentions(text, chapter):
    if not SEEDS.exists():
        pytest.skip("needs ../shared/seeds")
    (path,) = SEEDS.glob(f"{text}_*.txt")
    mentioned = {
        f"{kind.lower().replace('fig.', 'figure')} {number}" for kind, number in MENTION.findall(path.read_text())
    }
    algorithms = {"algorithm 1"} if text == "001" else set()  # the paper prints it without its word
    main_text = BOOK["eccv-text"] if text == "002" else set()
    assert mentioned | algorithms | main_text == BOOK[chapter] | main_text


def test_the_page_has_a_row_for_every_number():
    chapters = re.split(r"^## ", (ROOT / "docs/papers.md").read_text(), flags=re.MULTILINE)[1:]
    row = re.compile(r"^\|((?:figure|table|algorithm) [A-F]?\.?\d+)[ab]?:", re.MULTILINE)  # figure 3a, figure 3b
    assert [set(row.findall(chapter)) for chapter in chapters] == list(BOOK.values())


def test_the_page_has_the_rows_of_its_text():
    """A row that was changed by hand or in the text alone shows here; whether figures are current, only a run."""
    page = (ROOT / "docs/papers.md").read_text().splitlines()
    _, chapters = parts()
    around = [row.line.split(SLOT) for text in chapters.values() for row in rows_of(text)]
    assert [ends for ends in around if not any(_fits(line, ends) for line in page)] == []
    assert summary(chapters.values()) in page


def _fits(line: str, ends: list[str]) -> bool:
    return line.startswith(ends[0]) and line.endswith(ends[-1])


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_slot_has_a_function(name):
    _, chapters = parts()
    found = {function for module in CHAPTERS[name] for function in vars(module)}
    assert {row.function for row in rows_of(chapters[name]) if SLOT in row.line} <= found


def test_a_function_fills_its_row_and_its_table_follows(tmp_path):
    module = SimpleNamespace(table_a1=lambda data: Made(f"8 in {data.name}", markdown(["n"], [[8.0], [0.25], [1]])))
    page = computed(CHAPTER, [module], tmp_path)
    assert f"|table A.1: sizes|7|8 in {tmp_path.name}|`release`|drawn|drawn data: small|\n|figure 2" in page
    assert page.endswith("### Table A.1: sizes\n\n|n|\n|---|\n|8.0|\n|0.25|\n|1|\n")


def test_the_summary_counts_rows_by_status():
    assert summary([CHAPTER]) == "2 rows. equal: 1; differs: 0; drawn data: 1; input not public: 0."


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("|table 3: positives|1,895|1,895||public|equal|", "table 3: name the command"),
        ("|table 3: positives|1,895|1,895|release|public|right|", "table 3: unknown status right"),
    ],
)
def test_a_row_has_a_command_and_a_status(line, message):
    with pytest.raises(ValueError, match=message):
        Row(line)
