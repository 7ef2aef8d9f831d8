"""Image description as a ranking task (Hodosh et al. 2013): its numbered tables and figures."""

from benchmarks.papers.book import Chapter

CHAPTER = Chapter("ranking-task", "Image description as a ranking task (Hodosh et al. 2013)", items=())
