"""KCCA of Hodosh et al. (2013): a kernel over pictures and one over captions, projected to where they correlate most.

The paper's systems are options: text=bow1, bow5, tagrank, tri5 or tri5sem with image=pyramid; with models=15, 15
settings of regularisation and dimension are merged by Borda counts (section 4.1.3), as in the paper.
"""

from mitl.classical.classical_options import HISTOGRAMS, IDF
from mitl.options import Option

OPTIONS = {
    "text": Option(
        "tri5sem",
        "text kernel: words of one caption of an image (bow1), of all (bow5), weighted by rank (tagrank),"
        " sequences of up to three words (tri5), or such sequences with similar words (tri5sem)",
        choices=("bow1", "bow5", "tagrank", "tri5", "tri5sem"),
    ),
    "idf": IDF,
    **HISTOGRAMS,
    "power": Option(2, "power of the image kernel, 1 to 4", allows=lambda power: 1 <= power <= 4),
    "rank": Option(1000, "training images kept of each kernel, 2 to 10000", allows=lambda rank: 2 <= rank <= 10_000),
    "regularisation": Option(0.5, "kappa, above 0, if models=1", allows=lambda kappa: kappa > 0),
    "dim": Option(100, "length of the embeddings, 1 to 10000, if models=1", allows=lambda dim: 1 <= dim <= 10_000),
    "models": Option(
        1,
        "settings of kappa and dim, chosen on the validation split, whose rankings are merged by Borda counts;"
        " 1, or a multiple of 3 up to 45",
        allows=lambda models: models == 1 or (models % 3 == 0 and 3 <= models <= 45),
    ),
}
CHECKPOINT = "optional"
LEARNS = True
PREPROCESSING = "CIELAB, 12 edge and bar filters, SIFT of 16 x 16 pixels every 8; stop words, Porter stems; 1"
