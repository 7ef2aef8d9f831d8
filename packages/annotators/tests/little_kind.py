"""The little learner as a kind of annotator, for tests of entry points. It has no choice of losses."""

from counterpart_annotators.training.loop import fit, repeatable, set_weights
from counterpart_annotators.training.schedule import training_options
from little import LittleLearner

OPTIONS = training_options(epochs=3, batch=8)
CHECKPOINT = "none"


def open_annotator(stored, device):
    learner = LittleLearner()
    set_weights(learner.network, stored.arrays)
    return learner.annotator()


def train(examples, plan, progress):
    with repeatable(plan.seed):
        learner = LittleLearner()
    return fit(learner, examples, plan, progress)
