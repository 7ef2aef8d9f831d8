"""A kind for tests whose checkpoint decides one of its settings."""

import numpy as np

from mitl.annotators.base import Adopted
from mitl.options import Text, number

OPTIONS = {"dim": number(128, "length of the embeddings"), "mood": Text("calm", "its mood")}
CHECKPOINT = "required"


def adopt(path, settings):
    weights = np.load(path)
    return Adopted({"network.weight": weights, "words": np.array(["a", "b"])}, {"dim": weights.shape[1]})


def architecture(settings, arrays):
    return {"embedding": f"{settings['dim']} numbers"}
