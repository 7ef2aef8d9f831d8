"""The training loop, the same for all annotators, whatever they compute and whatever their loss.

Unfinished work is saved after every epoch, so that an interrupted training resumes with the same numbers.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

from counterpart_annotators.base import Arrays
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.adamp import AdamP
from counterpart_annotators.training.learners import Batches, Epoch, Learner, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.recall import measure, rsum
from counterpart_annotators.training.schedule import Schedule
from counterpart_metrics.errors import CounterpartError


@contextmanager
def repeatable(seed: int, threads: int = 1) -> Iterator[None]:
    """Run torch with its own seed and a fixed number of threads, on which sums depend.

    On a GPU the last digits may still differ: it computes some sums in varying order.
    """
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


PART = "training"
Curve = list[Epoch]


def weights_of(network: nn.Module) -> Arrays:
    """Return a copy of a network's state as arrays, by ``network.<its name>``."""
    return {f"network.{name}": tensor.detach().cpu().numpy().copy() for name, tensor in network.state_dict().items()}


def set_weights(network: nn.Module, arrays: Arrays) -> None:
    """Give a network the state that ``weights_of`` returned."""
    network.load_state_dict({name: torch.from_numpy(arrays[f"network.{name}"]) for name in network.state_dict()})


def save(kept: Checkpoints, network: nn.Module, optimiser: torch.optim.Optimizer, curve: Curve, best: Arrays) -> None:
    """Save the state of a training: network, optimiser, the epochs so far and the best weights among them.

    Random numbers need not be saved: each epoch draws its own, from the seed and its number.
    """
    moments = {
        f"optimiser.{place}.{name}": tensor.cpu().numpy()
        for place, moment in optimiser.state_dict()["state"].items()
        for name, tensor in moment.items()
    }
    epochs = np.frombuffer(json.dumps([asdict(epoch) for epoch in curve]).encode(), dtype=np.uint8)
    kept.save(PART, epochs=epochs, **weights_of(network), **moments, **{f"best.{name}": a for name, a in best.items()})


def resume(kept: Checkpoints, network: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[Curve, Arrays] | None:
    """Load the state that ``save`` wrote into network and optimiser; return its epochs and best weights, or None if
    there is none."""
    stored = kept.load(PART)
    if stored is None:
        return None
    set_weights(network, stored)
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name in stored:
        if name.startswith("optimiser."):
            _, place, moment = name.split(".")
            moments.setdefault(int(place), {})[moment] = torch.from_numpy(stored[name])
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    curve = [Epoch(**epoch) for epoch in json.loads(stored["epochs"].tobytes())]
    return curve, {name.removeprefix("best."): a for name, a in stored.items() if name.startswith("best.")}


def fit(learner: Learner, examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Return the weights of the epoch that was best on the validation split, among the last ``plan.late`` where that is
    not 0; of the last one without such a split.

    The annotator's settings hold the ``Schedule``. Parameters that require no gradient do not change, nor do the
    running statistics of modules without any that does. A learner must draw random numbers only from torch's
    generator, which is seeded for every epoch: a training that is started again with the same arguments then resumes
    after its last finished epoch and ends with the same weights.

    The caller builds the network under ``repeatable(plan.seed)``. ``plan.report`` is called with every epoch, also
    those before an interruption. The caller clears ``plan.kept`` once the weights are stored.

    Raises CounterpartError for examples of which no two fit into one batch, a loss that is not finite, and missing
    pictures.
    """
    schedule = Schedule.of(plan.settings)
    with repeatable(plan.seed, schedule.threads):
        run = _Run(learner, examples, plan, schedule)
        for epoch in run.curve:
            plan.report(epoch)
        while not run.is_over:
            run.run_epoch(progress)
    return Trained(run.best, run.figures)


class _Run:
    """A training in progress: its finished epochs and the best weights so far."""

    def __init__(self, learner: Learner, examples: TrainingSet, plan: TrainingPlan, schedule: Schedule) -> None:
        self._learner = learner
        self._examples = examples
        self._plan = plan
        self._schedule = schedule
        self._batches = Batches(examples, schedule.batch)
        learner.network.to(plan.device)
        two_stages = schedule.second_stage_epochs > 0
        self._learned = [weight for weight in learner.network.parameters() if weight.requires_grad or two_stages]
        self._optimiser = _optimiser(self._learned, schedule)
        saved = resume(plan.kept, learner.network, self._optimiser)
        self.curve: Curve = saved[0] if saved else []
        self.best: Arrays = saved[1] if saved else weights_of(learner.network)

    @property
    def is_over(self) -> bool:
        """Whether all epochs are finished, or validation has not improved for ``patience`` epochs."""
        patience = self._schedule.patience
        done = len(self.curve)
        since = max(self._best_number, self._schedule.epochs if self._schedule.second_stage_epochs else 0)
        waited = patience and self._examples.validation and done - since >= patience
        return done >= self._schedule.all_epochs or bool(waited)

    @property
    def figures(self) -> dict[str, object]:
        """The figures of the training to store."""
        if not self.curve:
            return {}
        best = self.curve[self._best_number - 1]
        return {
            "epochs": len(self.curve),
            "best_epoch": best.number,
            "loss_first": round(self.curve[0].loss, 4),
            "loss_last": round(self.curve[-1].loss, 4),
            **best.validation,
        }

    def run_epoch(self, progress: Progress) -> None:
        """Run one epoch, validate it, save it and report it."""
        started = perf_counter()
        number = len(self.curve) + 1
        # Numba's first parallel loop, which may be that of the last validation, sets this number for the whole process.
        # A training that was resumed would then sum in another order than one that was not interrupted.
        torch.set_num_threads(self._schedule.threads)
        loss = self._learn(number, progress)
        recalls = self._measure(progress) if number > self._early else {}
        self.curve.append(Epoch(number, loss, round(perf_counter() - started, 3), recalls))
        if self._best_number == number:
            self.best = weights_of(self._learner.network)
        save(self._plan.kept, self._learner.network, self._optimiser, self.curve, self.best)
        self._plan.report(self.curve[-1])

    @property
    def _early(self) -> int:
        """The number of the first epochs, which are not validated."""
        return self._schedule.all_epochs - self._plan.late if self._plan.late else 0

    @property
    def _best_number(self) -> int:
        """The number of the best validated epoch, the first of equal ones; without one the last; 0 before the first."""
        validated = [epoch for epoch in self.curve if epoch.validation]
        if not validated:
            return len(self.curve)
        return max(validated, key=lambda epoch: (rsum(epoch.validation), -epoch.number)).number

    def _learn(self, number: int, progress: Progress) -> float:
        """Run all batches of an epoch; return their mean loss."""
        torch.manual_seed(_seed_of_epoch(self._plan.seed, number))
        for group in self._optimiser.param_groups:
            group["lr"] = self._schedule.rate_at(number)
        if number > self._schedule.epochs:
            self._learner.network.requires_grad_(True)
        _set_learning(self._learner.network)
        losses = []
        done = 0
        for batch in self._batches.of_epoch(self._plan.seed, number):
            losses.append(self._step(self._learner.loss(batch), number))
            done += len(batch.images)
            progress(f"epoch {number} of {self._schedule.all_epochs}", done, len(self._examples.pairs))
        if not losses:
            raise CounterpartError(
                f"No two of the {len(self._examples.pairs)} known pairs fit into one batch, as they share images or"
                " captions. Train on more pairs."
            )
        return sum(losses) / len(losses)

    def _step(self, loss: torch.Tensor, number: int) -> float:
        self._optimiser.zero_grad()
        loss.backward()
        norm = clip_grad_norm_(self._learned, self._schedule.clip or inf)
        if not (loss.isfinite() and norm.isfinite()):
            raise CounterpartError(
                f"In epoch {number} the loss is {loss.item():g} and the norm of its gradient {norm.item():g}. Add the"
                f" annotator again with a learning rate below {self._schedule.rate:g}."
            )
        self._optimiser.step()
        return loss.item()

    def _measure(self, progress: Progress) -> dict[str, float]:
        if not self._examples.validation:
            return {}
        self._learner.network.eval()
        return measure(self._learner.annotator(), self._examples.validation, progress)


def _seed_of_epoch(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _optimiser(learned: list[nn.Parameter], schedule: Schedule) -> torch.optim.Optimizer:
    """Return AdamW, which is Adam without weight decay, or AdamP; biases and scales have no decay."""
    matrices = [parameter for parameter in learned if parameter.ndim > 1]
    vectors = [parameter for parameter in learned if parameter.ndim <= 1]
    groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    kind = AdamP if schedule.optimiser == "adamp" else torch.optim.AdamW
    return kind(groups, lr=schedule.rate, weight_decay=schedule.weight_decay)


def _set_learning(network: nn.Module) -> None:
    """Set training mode, but evaluation mode where all parameters are frozen: running statistics would change."""
    network.train()
    for module in network.modules():
        parameters = list(module.parameters())
        if parameters and not any(parameter.requires_grad for parameter in parameters):
            module.eval()
