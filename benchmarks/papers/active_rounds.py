"""Active learning (Jo et al.): its numbered tables and figures."""

from benchmarks.papers.book import Chapter

CHAPTER = Chapter("active-rounds", "Active learning (Jo et al.)", items=())
