"""ECCV Caption, appendix (Chun et al. 2022): its numbered tables and figures."""

from benchmarks.papers.book import Chapter

CHAPTER = Chapter("eccv-appendix", "ECCV Caption, appendix (Chun et al. 2022)", items=())
