"""PCME: every item is a normal distribution in the common space; two of them match with a probability.

Chun, Oh, Rezende, Kalantidis and Larlus (2021), "Probabilistic embeddings for cross-modal retrieval". The means are
PVSE's embeddings with K = 1; an uncertainty module on each side gives the logarithm of the standard deviation.
Distributions are compared by seeded samples; ``mitl.item_uncertainty`` reports their width. Where the code of the
authors and the paper differ, the code is followed. Training follows the first stage of their COCO recipe by default.
"""

from mitl.nn.network_options import PICTURES, RECURRENT_PREPROCESSING, SIZES, WORDS
from mitl.options import Option
from mitl.training.schedule import training_options

OPTIONS = {
    **WORDS,
    **SIZES,
    "samples": Option(7, "samples drawn per item, 1 to 64", allows=lambda k: 1 <= k <= 64),
    "samples_seed": Option(0, "seed of the samples, 0 or more", allows=lambda seed: seed >= 0),
    "score": Option(
        "probability",
        "mean match probability of the samples, or matmul: the sum of their inner products",
        choices=("probability", "matmul"),
    ),
    "shift": Option(15.0, "initial value of the learned shift, and the shift of weights without one"),
    "negative_scale": Option(15.0, "the same for the learned scale of distances", allows=lambda scale: scale > 0),
    "log_sigma": Option(
        0.0, "initial log sigma; lower values learn faster, -10 to 2", allows=lambda log: -10 <= log <= 2
    ),
    "vib_beta": Option(
        1e-5, "weight of the KL divergence from the standard normal in training", allows=lambda beta: beta >= 0
    ),
    "uniformity": Option(0.0, "weight of the uniformity of all samples in training", allows=lambda weight: weight >= 0),
    **PICTURES,
    "erasing": Option(0.2, "share of training views with an erased rectangle", allows=lambda share: 0 <= share <= 1),
    "forgetting": Option(
        0.1,
        "share of words made unknown, and of words left out, in training",
        allows=lambda share: 0 <= share < 1,
    ),
    **training_options(decay="cosine"),
}
CHECKPOINT = "optional"
LOSSES = ("pcme",)
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
