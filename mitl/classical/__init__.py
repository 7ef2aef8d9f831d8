"""Retrieval before deep networks, as Hodosh, Young and Hockenmaier (2013) built it: kernels, KCCA, Borda, BLEU.

Mathematics: arrays and texts in, arrays out. The machines over it are ``mitl.annotators.nn`` and ``kcca``.
"""
