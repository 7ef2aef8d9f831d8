"""KCCA of Hodosh et al. (2013): a kernel over pictures and one over captions, projected to where they correlate most.

The paper's systems are options: text=bow1, bow5, tagrank, tri5 or tri5sem with image=pyramid; those of table 6 are
tri5 with idf=none or root, align=no or yes and company=none, caption, image or both; with models=15, 15 settings of
regularisation and dimension are merged by Borda counts (section 4.1.3), as in the paper.
"""

from counterpart_annotators.classical.classical_options import HISTOGRAMS, IDF, PARTS
from counterpart_annotators.options import above_zero, choice, number


def check_models(models: int) -> None:
    """Refuse another number than 1 or a multiple of 3 up to 45."""
    if models != 1 and models not in range(3, 46, 3):
        raise ValueError("Use 1, or a multiple of 3 up to 45.")


OPTIONS = {
    "text": choice(
        "tri5sem",
        "text kernel: words of one caption of an image (bow1), of all (bow5), weighted by rank (tagrank),"
        " sequences of up to three words (tri5), or such sequences with similar words (tri5sem)",
        ("bow1", "bow5", "tagrank", "tri5", "tri5sem"),
    ),
    "idf": IDF,
    **PARTS,
    **HISTOGRAMS,
    "power": number(2, "power of the image kernel, 1 to 4", min_value=1, max_value=4),
    "rank": number(1000, "training images kept of each kernel, 2 to 10000", min_value=2, max_value=10_000),
    "regularisation": number(0.5, "kappa, above 0, if models=1", checks=[above_zero]),
    "dim": number(100, "length of the embeddings, 1 to 10000, if models=1", min_value=1, max_value=10_000),
    "models": number(
        1,
        "settings of kappa and dim, chosen on the validation split, whose rankings are merged by Borda counts;"
        " 1, or a multiple of 3 up to 45",
        checks=[check_models],
    ),
}
CHECKPOINT = "optional"
LEARNS = True
PREPROCESSING = "CIELAB, 12 edge and bar filters, SIFT of 16 x 16 pixels every 8; stop words, Porter stems; 1"
