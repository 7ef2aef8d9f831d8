"""ECCV Caption, main text (Chun et al. 2022): its numbered tables and figures."""

from benchmarks.papers.book import Chapter

CHAPTER = Chapter("eccv-text", "ECCV Caption, main text (Chun et al. 2022)", items=())
