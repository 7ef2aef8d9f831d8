"""Every numbered table and figure of the five papers, and ours:

    python -m benchmarks.papers DATA [--only CHAPTER] [--out docs/papers.md]

DATA is the folder of public files that docs/eccv-caption.md lists, with Flickr8k's judgments in its subfolder flickr8k.
Without --only the whole book is written to docs/papers.md; a single chapter is printed. All seeds are fixed: a second
run writes the same book.
"""

import argparse
from collections import Counter
from pathlib import Path

from benchmarks.doc_tables import DOCS
from benchmarks.papers import active_rounds, eccv_appendix, eccv_text, hubs, ranking_task
from benchmarks.papers.book import Chapter, Item

CHAPTERS = {
    chapter.name: chapter
    for chapter in (eccv_text.CHAPTER, eccv_appendix.CHAPTER, hubs.CHAPTER, ranking_task.CHAPTER, active_rounds.CHAPTER)
}
FIRST_LINES = """# The papers' tables and figures

Written by `python -m benchmarks.papers DATA`; do not edit it. A row is a numbered table or figure of a paper: its
figure, ours, the command that makes it and the input. *Differs* names the cause. *Drawn data*: the command is the
product's, on small collections with known truth, so only the order of figures can be compared. *Input not public*: the
command runs, but only the authors have its input.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of public files")
    parser.add_argument("--only", choices=CHAPTERS, help="print one chapter")
    parser.add_argument("--out", type=Path, default=DOCS / "papers.md", help="the page to write")
    options = parser.parse_args()
    if options.only:
        chapter = CHAPTERS[options.only]
        print(chapter_page(chapter, chapter.computed(options.data)))
        return
    items = {name: chapter.computed(options.data) for name, chapter in CHAPTERS.items()}
    counts = Counter(item.status for chapter in items.values() for item in chapter)
    summary = "; ".join(f"{status}: {number}" for status, number in sorted(counts.items()))
    chapters = [chapter_page(CHAPTERS[name], chapter) for name, chapter in items.items()]
    options.out.write_text("\n".join([FIRST_LINES, f"{counts.total()} items. {summary}.\n", *chapters]))


def chapter_page(chapter: Chapter, items: list[Item]) -> str:
    """Return a chapter in Markdown: a table of its items, then the details of those that have them."""
    details = [
        f"\n### {item.number[0].upper()}{item.number[1:]}: {item.subject}\n\n{item.details.strip()}\n"
        for item in items
        if item.details
    ]
    rows = [row(item) for item in items]
    heads = ["|item|paper|ours|command|input|status|", "|---|---|---|---|---|---|"]
    return "\n".join([f"## {chapter.title}\n", *heads, *rows, *details, ""])


def row(item: Item) -> str:
    status = f"{item.status}: {item.because}" if item.because else str(item.status)
    return f"|{item.number}: {item.subject}|{item.paper}|{item.ours}|{item.command}|{item.source}|{status}|"


if __name__ == "__main__":
    main()
