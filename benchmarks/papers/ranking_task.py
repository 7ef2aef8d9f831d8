"""Image description as a ranking task (Hodosh et al. 2013): its numbered tables and figures."""

from benchmarks.papers.book import Chapter, Item, Status
from benchmarks.papers.ranking_first_captions import figure_3, table_1, table_2
from benchmarks.papers.ranking_judgments import bleu_filter, figure_2, figure_4, table_8, table_9, table_10
from benchmarks.papers.ranking_systems import table_3, table_4, table_5, table_6, table_7, table_11, table_12

FIGURE_1 = Item(
    "figure 1",
    "captions of other collections: SBU, Flickr, IAPR TC-12",
    "three examples; 23.1 words a caption in IAPR TC-12",
    "any collection's captions with their pictures",
    "none",
    "`import_collection` and the page of an image",
    Status.CLOSED,
    "the three collections are not among the public files at hand",
)
CHAPTER = Chapter(
    "ranking-task",
    "Image description as a ranking task (Hodosh et al. 2013)",
    items=(
        FIGURE_1,
        figure_2,
        figure_3,
        figure_4,
        table_1,
        table_2,
        table_3,
        table_4,
        bleu_filter,
        table_5,
        table_6,
        table_7,
        table_8,
        table_9,
        table_10,
        table_11,
        table_12,
    ),
)
