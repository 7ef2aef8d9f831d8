"""Networks of transformers as machines: opened from what is kept, made new, and kept again after training."""

from dataclasses import replace

from core.progress import Progress
from mitl.annotators.recurrent.keeping import kept_arrays
from mitl.models import Annotator
from mitl.training.learners import Learner, Plan, Trained, TrainingSet
from mitl.training.loop import fit, repeatable
from mitl.transformer_models.family import Family
from mitl.transformer_models.model import Model, fresh_model, open_model


def kept_model(family: Family, annotator: Annotator, device: str) -> Model:
    """Return an annotator's network with its weights. Raises CounterpartError if it has none yet."""
    return open_model(family, kept_arrays(annotator), annotator.options, annotator.name, device)


def new_model(family: Family, examples: TrainingSet, plan: Plan) -> Model:
    """Return an untrained network of the plan's sizes, with pieces learned from the captions unless a file has them."""
    with repeatable(plan.seed):
        return fresh_model(family, plan.settings, [caption.text for caption in examples.captions], plan.device)


def trained_model(model: Model, learner: Learner, examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Fit a model's network; what is kept opens again as ``kept_model``."""
    trained = fit(learner, examples, plan, progress)
    return replace(trained, arrays=trained.arrays | model.parts())
