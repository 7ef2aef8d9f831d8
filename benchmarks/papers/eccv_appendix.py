"""ECCV Caption, appendix (Chun et al. 2022): its numbered tables and figures."""

from benchmarks.papers import appendix_counts as counts
from benchmarks.papers import appendix_drawn as drawn
from benchmarks.papers import appendix_files as files
from benchmarks.papers.book import Chapter

CHAPTER = Chapter(
    "eccv-appendix",
    "ECCV Caption, appendix (Chun et al. 2022)",
    items=(
        drawn.table_a1,
        drawn.figure_a1,
        counts.table_b1,
        drawn.figure_b1,
        drawn.table_b2,
        drawn.table_b3,
        files.appendix_c1,
        files.figure_c1,
        files.figure_c2,
        files.figure_d1,
        counts.table_d1,
        drawn.figure_d2,
        counts.table_d2,
        counts.table_d3,
        counts.table_e1,
        drawn.figure_e1,
        drawn.figure_e2,
        counts.figure_e3,
        files.figure_f1,
    ),
)
