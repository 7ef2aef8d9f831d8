"""A kind for tests whose checkpoint decides one of its settings."""

import numpy as np

from counterpart_annotators.base import Adopted
from counterpart_annotators.options import number, text

OPTIONS = {"dim": number(128, "length of the embeddings"), "mood": text("calm", "its mood")}
CHECKPOINT = "required"


def adopt(path, settings):
    weights = np.load(path)
    return Adopted({"network.weight": weights, "words": np.array(["a", "b"])}, {"dim": weights.shape[1]})


def architecture(settings, arrays):
    return {"embedding": f"{settings['dim']} numbers"}
