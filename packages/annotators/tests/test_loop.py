import numpy as np
import pytest
import torch
from torch import nn

from counterpart_annotators.training import loop
from counterpart_annotators.training.learners import TrainingSet
from counterpart_annotators.training.loop import repeatable
from counterpart_metrics.errors import CounterpartError
from little import LittleLearner, make_examples, train


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


def stop_at(step: str, done: int):
    """A progress that is interrupted there, as by Ctrl-C."""

    def progress(at: str, far: int, total: int | None) -> None:
        if at.startswith(step) and far >= done:
            raise KeyboardInterrupt

    return progress


@pytest.mark.slow
def test_it_learns(tmp_path):
    epochs = []
    trained = train(tmp_path, report=epochs.append)
    assert epochs[-1].loss < epochs[0].loss / 2
    assert trained.figures["i2t R@1"] > 100 * 2 / 6


def test_the_seed_alone_decides_the_weights_whatever_else_draws_numbers(tmp_path):
    torch.manual_seed(1)
    one = train(tmp_path / "a", seed=1).arrays
    torch.manual_seed(2)
    torch.rand(5)
    assert same(one, train(tmp_path / "b", seed=1).arrays)
    assert not same(one, train(tmp_path / "c", seed=2).arrays)


def test_every_epoch_is_reported(tmp_path):
    epochs = []
    train(tmp_path, report=epochs.append)
    assert [epoch.number for epoch in epochs] == [1, 2, 3, 4, 5, 6]
    assert set(epochs[0].validation) == {f"{d} R@{k}" for d in ("i2t", "t2i") for k in (1, 5, 10)} | {"rsum"}


@pytest.mark.parametrize("step", ["epoch 1 ", "epoch 3 ", "epoch 6 "])
def test_an_interrupted_training_goes_on_to_the_same_weights(tmp_path, step):
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "a", progress=stop_at(step, 9))
    epochs, steps = [], []
    resumed = train(tmp_path / "a", report=epochs.append, progress=lambda at, done, total: steps.append(at))
    assert same(resumed.arrays, train(tmp_path / "b").arrays)
    assert steps[0] == f"{step}of 6"
    assert [epoch.number for epoch in epochs] == [1, 2, 3, 4, 5, 6]


def test_a_damaged_checkpoint_counts_as_none(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "a", progress=stop_at("epoch 3 ", 1))
    part = tmp_path / "a" / "training.part"
    part.write_bytes(part.read_bytes()[:-7])
    assert same(train(tmp_path / "a").arrays, train(tmp_path / "b").arrays)


class Counting(LittleLearner):
    """Notes the number of threads at every batch."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[int] = []

    def loss(self, batch):
        self.threads.append(torch.get_num_threads())
        return super().loss(batch)


def test_a_validation_that_starts_more_threads_leaves_the_training_its_number(tmp_path, monkeypatch):
    """Numba's first parallel loop in a process does so; only a training that was resumed came without it."""
    recall = loop.measure

    def measure_with_threads(*args):
        torch.set_num_threads(3)
        return recall(*args)

    monkeypatch.setattr(loop, "measure", measure_with_threads)
    learner = Counting()
    train(tmp_path, learner=learner)
    assert set(learner.threads) == {1}


def test_the_best_weights_on_the_validation_split_are_kept(tmp_path):
    epochs = []
    trained = train(tmp_path / "a", report=epochs.append, rate=0.3, epochs=12)
    best = trained.figures["best_epoch"]
    assert trained.figures["rsum"] == max(epoch.validation["rsum"] for epoch in epochs)
    assert best < 12
    assert same(trained.arrays, train(tmp_path / "b", rate=0.3, epochs=best).arrays)


def test_of_the_last_epochs_alone_the_best_is_kept(tmp_path):
    epochs = []
    trained = train(tmp_path, report=epochs.append, rate=0.3, epochs=12, patience=1, late=3)
    assert [bool(epoch.validation) for epoch in epochs[:10]] == [False] * 9 + [True]
    assert trained.figures["rsum"] == max(epoch.validation["rsum"] for epoch in epochs[9:])
    assert trained.figures["best_epoch"] > 9


def test_it_stops_when_it_has_waited_long_enough(tmp_path):
    epochs = []
    trained = train(tmp_path, report=epochs.append, rate=0.3, epochs=60, patience=2)
    assert len(epochs) == trained.figures["epochs"] == trained.figures["best_epoch"] + 2


def test_without_a_validation_split_the_last_weights_are_kept(tmp_path):
    trained = train(tmp_path, examples=make_examples(), patience=1)
    assert (trained.figures["epochs"], trained.figures["best_epoch"]) == (6, 6)
    assert "rsum" not in trained.figures


def test_no_epochs_leave_the_first_weights(tmp_path):
    trained = train(tmp_path, epochs=0)
    with repeatable(0):
        first = LittleLearner().network
    assert np.array_equal(trained.arrays["network.images.weight"], first["images"].weight.detach())
    assert trained.figures == {}


class PartlyFixed(LittleLearner):
    """With a batch normalisation whose parameters do not learn."""

    def __init__(self) -> None:
        super().__init__()
        self.network["fixed"] = nn.BatchNorm1d(4).requires_grad_(False)

    def loss(self, batch):
        self.network["fixed"](torch.randn(8, 4))
        return super().loss(batch)


def test_what_requires_no_gradient_stays_with_its_statistics(tmp_path):
    arrays = train(tmp_path, learner=PartlyFixed()).arrays
    assert not arrays["network.fixed.running_mean"].any()
    assert arrays["network.fixed.num_batches_tracked"] == 0


class Frozen(LittleLearner):
    """Its map of images waits for the second stage."""

    def __init__(self) -> None:
        super().__init__()
        self.network["images"].requires_grad_(False)


@pytest.mark.parametrize("optimiser", ["adam", "adamp"])
@pytest.mark.parametrize("step", ["epoch 2 ", "epoch 5 "])
def test_a_second_stage_that_was_interrupted_goes_on_to_the_same_weights(tmp_path, step, optimiser):
    stages = {"epochs": 3, "second_stage_epochs": 3, "optimiser": optimiser}
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "a", learner=_frozen(), progress=stop_at(step, 9), **stages)
    steps = []
    resumed = train(tmp_path / "a", learner=_frozen(), progress=lambda at, done, total: steps.append(at), **stages)
    assert same(resumed.arrays, train(tmp_path / "b", learner=_frozen(), **stages).arrays)
    assert steps[0] == f"{step}of 6"


def test_what_is_frozen_learns_in_the_second_stage_alone(tmp_path):
    first = _frozen().network["images"].weight.detach().numpy()
    one, two = (
        train(tmp_path / str(more), examples=make_examples(), epochs=2, second_stage_epochs=more, learner=_frozen())
        for more in (0, 1)
    )
    assert np.array_equal(one.arrays["network.images.weight"], first)
    assert not np.array_equal(two.arrays["network.images.weight"], first)


def test_the_optimiser_is_a_setting(tmp_path):
    """The length of the learner's weights changes no score, so that AdamP steps otherwise."""
    one, other = (train(tmp_path / name, epochs=1, optimiser=name).arrays for name in ("adam", "adamp"))
    assert not same(one, other)


def _frozen() -> Frozen:
    with repeatable(0):
        return Frozen()


def test_of_two_stages_it_waits_in_the_second(tmp_path):
    epochs = []
    stages = {"epochs": 4, "second_stage_epochs": 9, "second_stage_rate": 1e-9, "rate": 1e-9, "patience": 2}
    train(tmp_path, report=epochs.append, **stages)
    assert len(epochs) == 4 + 2


class Broken(LittleLearner):
    """Breaks from the eighth batch on: the loss itself, or what comes back from it."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self._at = at

    def loss(self, batch):
        loss = super().loss(batch)
        if len(self.batches) < 8:
            return loss
        return loss * torch.nan if self._at == "loss" else (loss - loss.detach()).sqrt()


@pytest.mark.parametrize(
    ("at", "said"), [("loss", "loss is nan"), ("gradient", "loss is 0 and the norm of its gradient nan")]
)
def test_a_loss_or_gradient_of_nan_is_named(tmp_path, at, said):
    with pytest.raises(CounterpartError, match=f"epoch 2 the {said}"):
        train(tmp_path, learner=Broken(at))


def test_pairs_that_share_everything_cannot_be_learned_from(tmp_path):
    examples = make_examples(1)
    with pytest.raises(CounterpartError, match="2 known pairs"):
        train(tmp_path, examples=examples)


def test_threads_and_generator_are_given_back():
    before = torch.get_num_threads(), torch.get_rng_state()
    with repeatable(3, threads=2):
        assert torch.get_num_threads() == 2
        torch.rand(3)
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


def test_different_sets_have_different_digests():
    examples = make_examples(4)
    halved = TrainingSet(examples.images, examples.captions, examples.pairs, examples.weights / 2)
    validated = make_examples(4, validation=make_examples(2, start=50))
    assert len({one.digest for one in (examples, halved, validated)}) == 3
