"""Tables of what was judged, and what they say of workers, annotators and judges. Pairs have an ``image`` and a
``caption``.

- **answers**, a row each: ``worker``, ``level`` (1 to 4), ``control`` ("positive" or "negative", empty for a
  candidate), whether it is ``counted``, and its ``answer_set``; the *votes* are those that count, on candidates;
- **answer sets**: ``worker``, ``accepted``, ``excluded``, ``rejected``, ``seconds`` and ``pairs``;
- **verdicts**: the ``level`` of each pair;
- **proposals**: ``annotator``, ``direction`` ("i2t", "t2i"), ``rank`` and ``score`` of each.
"""

PAIR = ["image", "caption"]
MATCH = (1, 2)
"""The levels that are a match."""
