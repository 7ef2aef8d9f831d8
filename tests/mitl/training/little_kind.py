"""The little learner as a kind of annotator, for tests of entry points. It has no choice of losses."""

from core.files import StoredFile, read_arrays
from mitl.training.loop import fit, repeatable, set_weights
from mitl.training.schedule import training_options
from tests.mitl.training.little import LittleLearner

OPTIONS = training_options(epochs=3, batch=8)
CHECKPOINT = "none"


def open_annotator(annotator, device):
    learner = LittleLearner()
    set_weights(learner.network, read_arrays(StoredFile(annotator.checkpoint, annotator.checksum)))
    return learner.annotator()


def train(examples, plan, progress):
    with repeatable(plan.seed):
        learner = LittleLearner()
    return fit(learner, examples, plan, progress)
