"""PVSE: K embeddings of a picture and K of a caption, scored by the best of their K x K cosines.

Song and Soleymani (2019), "Polysemous visual-semantic embedding for cross-modal retrieval". Where the published code
and the paper differ, the code is followed, with which the published weights were trained. Names of modules are those
of the published files. Training follows the authors' COCO recipe by default.
"""

from counterpart_annotators.nn.network_options import PICTURES, RECURRENT_PREPROCESSING, WORDS, sizes
from counterpart_annotators.options import choice, number
from counterpart_annotators.training.schedule import RANKING, RANKING_LOSSES, training_options

OPTIONS = {
    **WORDS,
    **sizes(),
    "embeddings": number(1, "embeddings per item, K, 1 to 16", min_value=1, max_value=16),
    "reading": choice(
        "legacy",
        "state of the GRU that represents a caption: at its last word (all published weights), or both final ones",
        ("legacy", "final"),
    ),
    **PICTURES,
    **RANKING,
    **training_options(batch=256),
}
CHECKPOINT = "optional"
LOSSES = ("pvse", *RANKING_LOSSES)
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
