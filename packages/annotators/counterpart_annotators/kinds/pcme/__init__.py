"""PCME: every item is a normal distribution in the common space; two of them match with a probability.

Chun, Oh, Rezende, Kalantidis and Larlus (2021), "Probabilistic embeddings for cross-modal retrieval". The means are
PVSE's embeddings with K = 1; an uncertainty module on each side gives the logarithm of the standard deviation.
Distributions are compared by seeded samples; the uncertainty of an item is their width. Where the code of the
authors and the paper differ, the code is followed. Training follows the first stage of their COCO recipe by default.
"""

from counterpart_annotators.nn.network_options import PICTURES, RECURRENT_PREPROCESSING, WORDS, sizes
from counterpart_annotators.options import above_zero, choice, number
from counterpart_annotators.training.schedule import training_options


def below_one(share: float) -> None:
    """Refuse a share of everything."""
    if share >= 1:
        raise ValueError("Use a number below 1.")


OPTIONS = {
    **WORDS,
    **sizes(),
    "samples": number(7, "samples drawn per item, 1 to 64", min_value=1, max_value=64),
    "samples_seed": number(0, "seed of the samples, 0 or more", min_value=0),
    "score": choice(
        "probability",
        "mean match probability of the samples, or matmul: the sum of their inner products",
        ("probability", "matmul"),
    ),
    "shift": number(15.0, "initial value of the learned shift, and the shift of weights without one"),
    "negative_scale": number(15.0, "the same for the learned scale of distances", checks=[above_zero]),
    "log_sigma": number(0.0, "initial log sigma; lower values learn faster, -10 to 2", min_value=-10, max_value=2),
    "vib_beta": number(1e-5, "weight of the KL divergence from the standard normal in training", min_value=0),
    "uniformity": number(0.0, "weight of the uniformity of all samples in training", min_value=0),
    **PICTURES,
    "erasing": number(0.2, "share of training views with an erased rectangle", min_value=0, max_value=1),
    "forgetting": number(
        0.1, "share of words made unknown, and of words left out, in training", min_value=0, checks=[below_one]
    ),
    **training_options(decay="cosine"),
}
CHECKPOINT = "optional"
LOSSES = ("pcme",)
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
