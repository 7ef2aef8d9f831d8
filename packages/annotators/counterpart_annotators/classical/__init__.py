"""Retrieval before deep networks, as in Hodosh, Young and Hockenmaier (2013): kernels of texts, and visual words.

Mathematics: arrays and texts in, arrays out. the kinds ``nn`` and ``kcca`` use it. Sections
below are those of the paper.
"""
