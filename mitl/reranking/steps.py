"""The steps of a re-ranking as text: names with commas between, settings behind colons: ``csls:k=5,rgm``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from core.errors import CounterpartError
from mitl.hubness.corrections import BETA, NEIGHBOURS


@dataclass(frozen=True)
class Setting:
    """A number that a step takes: its default, and what it may be."""

    default: float
    allows: Callable[[float], bool]
    meaning: str


def _is_count(number: float) -> bool:
    return number >= 1 and number == int(number)


SETTINGS = {
    "csls": {"k": Setting(NEIGHBOURS, _is_count, "a whole number of neighbours, 1 or more")},
    "is": {"beta": Setting(BETA, lambda number: number > 0, "a temperature above 0")},
    "rgm": {
        "k": Setting(10, _is_count, "a whole number of matches for each query, 1 or more"),
        "relaxation": Setting(2.0, lambda number: number > 0, "a number above 0"),
    },
}
CORRECTIONS = ("csls", "is")


@dataclass(frozen=True)
class Step:
    """One step and all its settings, in the order of ``SETTINGS``. As text it reads the way it is parsed."""

    name: str
    settings: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        return ":".join([self.name, *(f"{name}={number:g}" for name, number in self.settings)])

    def __getitem__(self, setting: str) -> float:
        return dict(self.settings)[setting]


Steps = tuple[Step, ...]


def parse_steps(text: str) -> Steps:
    """Read steps such as ``csls,rgm`` or ``is:beta=20,rgm:k=10:relaxation=1.5``; what is not set has its default.

    Raises CounterpartError for an unknown step or setting, a step named twice, RGM before another step, CSLS and
    IS together (each corrects the plain scores), and settings out of range.
    """
    steps = tuple(_step(part.strip()) for part in text.split(","))
    names = [step.name for step in steps]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise CounterpartError(f"The re-ranking {text!r} names {', '.join(doubled)} more than once; name it once.")
    if set(CORRECTIONS) <= set(names):
        raise CounterpartError(f"The re-ranking {text!r} has both csls and is, which correct the same; choose one.")
    if "rgm" in names[:-1]:
        raise CounterpartError(f"In the re-ranking {text!r} rgm must be the last step: it matches corrected scores.")
    return steps


def written(steps: Sequence[Step]) -> str:
    """Return the steps as text that ``parse_steps`` reads back, every setting told; ``none`` where there are none."""
    return ",".join(map(str, steps)) or "none"


def _step(text: str) -> Step:
    name, *settings = text.split(":")
    if name not in SETTINGS:
        raise CounterpartError(f"There is no re-ranking step {name!r}; choose from {', '.join(SETTINGS)}.")
    given = dict(_setting(name, setting) for setting in settings)
    return Step(name, tuple((key, given.get(key, setting.default)) for key, setting in SETTINGS[name].items()))


def _setting(step: str, text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    known = SETTINGS[step]
    if key not in known:
        examples = ", ".join(f"{name}={setting.default:g}" for name, setting in known.items())
        raise CounterpartError(f"The re-ranking step {step} has no setting {text!r}; it has {examples}.")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or not known[key].allows(number):
        raise CounterpartError(f"{key} of the re-ranking step {step} is {known[key].meaning}, not {value!r}.")
    return key, number
