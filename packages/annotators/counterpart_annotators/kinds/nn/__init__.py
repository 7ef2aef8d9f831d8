"""The nearest-neighbour system of Hodosh et al. (2013), section 3.1, eq. 2: a training image, or its captions, replaces
the query.

Captions for an image: those most similar to the five captions of the training image that looks most similar to it.
Images for a caption: those most similar to the training image whose captions are most similar to it. Training stores
the collection's training images and captions.
"""

from counterpart_annotators.classical.classical_options import HISTOGRAMS, IDF
from counterpart_annotators.options import choice

OPTIONS = {
    "text": choice(
        "f1",
        "similarity of captions: F1 of IDF-weighted words, cosine of words, or sequences of words",
        ("f1", "bow5", "tri5"),
    ),
    "idf": IDF,
    **HISTOGRAMS,
}
CHECKPOINT = "optional"
LEARNS = True
