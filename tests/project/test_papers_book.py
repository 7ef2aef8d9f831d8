"""The papers' book, docs/papers.md, has a row for every numbered table and figure of the five papers."""

import re

import pytest

from benchmarks.papers.book import Chapter, Item, Status
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


def item(**changed: object) -> Item:
    given = {"number": "table 3", "subject": "positives", "paper": "1,895", "ours": "1,895", "source": "public"}
    return Item(**{**given, "command": "release", "status": Status.EQUAL, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"because": "drawn"}, "table 3: give a reason"),
        ({"status": Status.DIFFERS}, "table 3: give a reason"),
        ({"command": ""}, "table 3: name the command"),
    ],
)
def test_an_item_has_a_command_and_a_reason_if_figures_differ(changed, message):
    with pytest.raises(ValueError, match=message):
        item(**changed)


def test_a_chapter_computes_its_items_from_the_data_folder(tmp_path):
    chapter = Chapter("one", "One", items=(item(), lambda data: item(source=str(data))))
    assert [one.source for one in chapter.computed(tmp_path)] == ["public", str(tmp_path)]
