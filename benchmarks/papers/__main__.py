"""Every numbered table and figure of the five papers, and ours:

    python -m benchmarks.papers DATA [--only CHAPTER] [--out docs/papers.md]

DATA is the folder of public files that docs/papers.md lists. Without --only the whole book is written to
docs/papers.md; a single chapter is printed. All seeds are fixed, and sums have the order of one thread: a second run on
the same processor writes the same book.
"""

import argparse
import os
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.doc_tables import DOCS
from benchmarks.papers import (
    active_rounds,
    appendix_counts,
    appendix_drawn,
    appendix_files,
    eccv_text,
    hubs,
    ranking_first_captions,
    ranking_judgments,
    ranking_systems,
)
from benchmarks.papers.book import computed, summary

PAGE = Path(__file__).with_name("page.txt")
CHAPTERS = {
    "eccv-text": (eccv_text,),
    "eccv-appendix": (appendix_counts, appendix_drawn, appendix_files),
    "hubs": (hubs,),
    "ranking-task": (ranking_first_captions, ranking_judgments, ranking_systems),
    "active-rounds": (active_rounds,),
}
"""The modules of each chapter, in the order of the page."""


def parts() -> tuple[str, dict[str, str]]:
    """Return the head of the page, and its chapters by name."""
    head, *chapters = PAGE.read_text().split("\n## ")
    return head, {name: f"## {text}" for name, text in zip(CHAPTERS, chapters, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of public files")
    parser.add_argument("--only", choices=CHAPTERS, help="print one chapter")
    parser.add_argument("--out", type=Path, default=DOCS / "papers.md", help="the page to write")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # of processes that it starts
    head, chapters = parts()
    wanted = [options.only] if options.only else list(chapters)
    with threadpool_limits(1):
        made = [computed(chapters[name], CHAPTERS[name], options.data) for name in wanted]
    if options.only:
        print(*made)
        return
    options.out.write_text("\n".join([head.replace("{summary}", summary(chapters.values())), *made]))


if __name__ == "__main__":
    main()
