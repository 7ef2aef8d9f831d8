"""docs/eccv-caption.md holds the tables that `python -m benchmarks.eccv_caption DATA --write` makes of its figures."""

import re

from benchmarks.doc_tables import DOCS
from benchmarks.eccv_caption import tables

PAGE = DOCS / "eccv-caption.md"
SOURCES = ("original", "judged", "cxc>=3", "eccv-overlap")
FIGURES = {
    "plan": {
        "pairs": 12309,
        "hits": 770,
        "positives": 776,
        "negatives": 775,
        "shared_images": 0,
        "shared_captions": 2,
        "cost": {"browser": {"total": "500.50"}, "mturk": {"total": "600.60"}},
    },
    "submissions": 1778,
    "excluded": 8,
    "positives per source": [
        {"source": name, "images": 1000 + n, "captions": n, "times_images": 1.906, "times_captions": 0.5}
        for n, name in enumerate(SOURCES)
    ],
    "positives of ECCV Caption": 27740,
    "share of them found": 0.4059,
    "from the published files alone (t2i, i2t)": {
        "published": [11279, 22551], "published-meaningless": [1, 2], "published-all-of-c1": [3, 4]
    },
}  # fmt: skip


def without_numbers(table: str) -> str:
    return re.sub(r"[\d.,%]+|none", "#", table)


def test_the_tables_show_the_figures():
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in tables(FIGURES).splitlines()]
    for row in (["judged", "1,001", "1.91", "1", "0.50"], ["ECCV Caption ∪ CxC", "11,279", "22,551"]):
        assert row in rows
    assert {"1,778", "2", "40.6%"} <= {row[1] for row in rows if len(row) == 2}


def test_the_page_s_tables_are_the_program_s():
    """A row that was changed by hand or in the program alone shows here; whether figures are current, only a run."""
    page = PAGE.read_text()
    assert without_numbers(tables(FIGURES)) in without_numbers(page)
