"""Relevance feedback: another annotator's embeddings, moved towards verified matches and away from rejected pairs.

Rocchio (1971), "Relevance feedback in information retrieval": a query becomes its embedding, plus a share of the mean
of the items that people called matches, less a share of the mean of those that they rejected. Here both sides move, as
each is a query of one direction. The shares are those that separate held-out matches and held-out rejected pairs best.

An own caption moves neither its image nor itself: it is known to match, and adds nothing new.
"""

from counterpart_annotators.options import text

OPTIONS = {"of": text("", "annotator whose embeddings of images and captions are moved")}
LEARNS = True
