"""Fit"""

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

from core.errors import CounterpartError
from core.progress import Progress
from mitl.annotators.base import Arrays
from mitl.checkpoints import Checkpoints
from mitl.training.batches import Batches
from mitl.training.learners import Epoch, Learner, Plan, Trained, TrainingSet
from mitl.training.recall import measure, rsum
from mitl.training.schedule import Schedule


@contextmanager
def repeatable(seed: int, threads: int = 1) -> Iterator[None]:
    """Run torch with a seed of its own and always as many threads: sums depend on how they are split.

    On a GPU the last digits may still differ: some sums are taken there in whatever order their parts are ready.
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


def keep(kept: Checkpoints, network: nn.Module, optimiser: torch.optim.Optimizer, curve: Curve, best: Arrays) -> None:
    """Save where a training stands: the network, its optimiser, the epochs so far, the best weights among them.

    Random numbers need no keeping: each epoch draws its own, from the seed and its number.
    """
    moments = {
        f"optimiser.{place}.{name}": tensor.cpu().numpy()
        for place, moment in optimiser.state_dict()["state"].items()
        for name, tensor in moment.items()
    }
    epochs = np.frombuffer(json.dumps([asdict(epoch) for epoch in curve]).encode(), dtype=np.uint8)
    kept.save(PART, epochs=epochs, **weights_of(network), **moments, **{f"best.{name}": a for name, a in best.items()})


def take_up(kept: Checkpoints, network: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[Curve, Arrays] | None:
    """Bring network and optimiser to where the last try stood; return its epochs and its best weights, or None if
    there was none."""
    found = kept.load(PART)
    if found is None:
        return None
    set_weights(network, found)
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name in found:
        if name.startswith("optimiser."):
            _, place, moment = name.split(".")
            moments.setdefault(int(place), {})[moment] = torch.from_numpy(found[name])
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    curve = [Epoch(**epoch) for epoch in json.loads(found["epochs"].tobytes())]
    return curve, {name.removeprefix("best."): a for name, a in found.items() if name.startswith("best.")}


def fit(learner: Learner, examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Return the weights of the epoch that was best on the validation split, of the last where there is none.

    How long and how fast is read from the machine's settings (``Schedule``). Parameters that require no gradient stay
    as they are, and so do the statistics of modules of which none does. Whatever a learner draws it must draw from
    torch's own generator, which is seeded anew for every epoch: an interrupted training, begun again with the same
    arguments, then goes on after its last finished epoch to the same weights.

    First weights are the caller's: make the network under ``repeatable(plan.seed)``. ``plan.report`` is told of every
    epoch, those of an interrupted try first. ``plan.kept`` is left for the caller to clear once the weights are safe.

    Raises CounterpartError for examples of which no two can stand in a batch, a loss that is no number, and pictures
    that are not there.
    """
    schedule = Schedule.of(plan.settings)
    with repeatable(plan.seed, schedule.threads):
        course = _Course(learner, examples, plan, schedule)
        for epoch in course.curve:
            plan.report(epoch)
        while not course.is_over:
            course.run_epoch(progress)
    return Trained(course.best, course.figures)


class _Course:
    """One training under way: the epochs behind it and the best weights so far."""

    def __init__(self, learner: Learner, examples: TrainingSet, plan: Plan, schedule: Schedule) -> None:
        self._learner, self._examples, self._plan, self._schedule = learner, examples, plan, schedule
        self._batches = Batches(examples, schedule.batch)
        learner.network.to(plan.device)
        self._learned = [parameter for parameter in learner.network.parameters() if parameter.requires_grad]
        self._optimiser = _optimiser(self._learned, schedule)
        there = take_up(plan.kept, learner.network, self._optimiser)
        self.curve: Curve = there[0] if there else []
        self.best: Arrays = there[1] if there else weights_of(learner.network)

    @property
    def is_over(self) -> bool:
        """Whether all epochs are run, or validation has grown no better for as long as the schedule waits."""
        patience, done = self._schedule.patience, len(self.curve)
        waited = patience and self._examples.validation and done - self._best_number >= patience
        return done >= self._schedule.epochs or bool(waited)

    @property
    def figures(self) -> dict[str, object]:
        """What is written down of the training."""
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
        """Run one epoch, measure it, keep it, and tell of it."""
        started, number = perf_counter(), len(self.curve) + 1
        loss = self._learn(number, progress)
        recalls = self._measure(progress)
        self.curve.append(Epoch(number, loss, round(perf_counter() - started, 3), recalls))
        if self._best_number == number:
            self.best = weights_of(self._learner.network)
        keep(self._plan.kept, self._learner.network, self._optimiser, self.curve, self.best)
        self._plan.report(self.curve[-1])

    @property
    def _best_number(self) -> int:
        """The number of the best epoch, the first among equals; of the last one without validation; 0 before it."""
        if not self._examples.validation:
            return len(self.curve)
        return max(self.curve, key=lambda epoch: (rsum(epoch.validation), -epoch.number)).number if self.curve else 0

    def _learn(self, number: int, progress: Progress) -> float:
        """Run all batches of an epoch; return their mean loss."""
        torch.manual_seed(_epoch_seed(self._plan.seed, number))
        for group in self._optimiser.param_groups:
            group["lr"] = self._schedule.rate_at(number)
        _set_learning(self._learner.network)
        losses, done = [], 0
        for batch in self._batches.of_epoch(self._plan.seed, number):
            losses.append(self._step(self._learner.loss(batch), number))
            done += len(batch.images)
            progress(f"epoch {number} of {self._schedule.epochs}", done, len(self._examples.pairs))
        if not losses:
            raise CounterpartError(
                f"No two of the {len(self._examples.pairs)} known pairs can stand in one batch; they share their images"
                " or captions, and there is nothing to tell apart. Train on more pairs."
            )
        return sum(losses) / len(losses)

    def _step(self, loss: torch.Tensor, number: int) -> float:
        self._optimiser.zero_grad()
        loss.backward()
        length = clip_grad_norm_(self._learned, self._schedule.clip or inf)
        if not (loss.isfinite() and length.isfinite()):
            raise CounterpartError(
                f"The loss is {loss.item():g} and its gradient {length.item():g} long in epoch {number}; nothing can be"
                f" learned from that. Add the annotator again with a lower rate than {self._schedule.rate:g}."
            )
        self._optimiser.step()
        return loss.item()

    def _measure(self, progress: Progress) -> dict[str, float]:
        if not self._examples.validation:
            return {}
        self._learner.network.eval()
        return measure(self._learner.machine(), self._examples.validation, progress)


def _optimiser(learned: list[nn.Parameter], schedule: Schedule) -> torch.optim.Optimizer:
    """AdamW, which without weight decay is Adam; biases and scales are not decayed."""
    matrices = [parameter for parameter in learned if parameter.ndim > 1]
    vectors = [parameter for parameter in learned if parameter.ndim <= 1]
    groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=schedule.rate, weight_decay=schedule.weight_decay)


def _set_learning(network: nn.Module) -> None:
    """Set training mode, and evaluation mode where all parameters are fixed: running statistics would move."""
    network.train()
    for module in network.modules():
        parameters = list(module.parameters())
        if parameters and not any(parameter.requires_grad for parameter in parameters):
            module.eval()


def _epoch_seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> np.uint64(1))
