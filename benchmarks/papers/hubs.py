"""Visual semantic hubs (Anonymous, EMNLP-IJCNLP submission): its numbered tables and figures."""

from benchmarks.papers.book import Chapter

CHAPTER = Chapter("hubs", "Visual semantic hubs (Anonymous, EMNLP-IJCNLP submission)", items=())
