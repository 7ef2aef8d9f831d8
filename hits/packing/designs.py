"""The composition of a HIT: one of the two designs of the ECCV Caption paper, or one from a JSON file."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import CounterpartError, some_of
from core.text import trimmed
from core.untrusted import read_json

LARGEST = 100  # pairs in a HIT


@dataclass(frozen=True)
class Design:
    """Numbers of candidate pairs and gold controls in a HIT: at least one candidate and one control, because controls
    also fill up the last HIT. ``repeats`` of the candidates are asked a second time; those answers are not votes."""

    name: str
    candidates: int
    positives: int
    negatives: int
    repeats: int = 0

    @property
    def size(self) -> int:
        """Different pairs in a HIT."""
        return self.candidates + self.positives + self.negatives

    @property
    def shown(self) -> int:
        """Pairs that a worker answers in a HIT."""
        return self.size + self.repeats

    @property
    def controls(self) -> int:
        return self.positives + self.negatives

    def __str__(self) -> str:
        return self.name

    def as_json(self) -> dict[str, Any]:
        """Return its numbers; no repeats are left out, as hashes of plans cover it."""
        return {name: value for name, value in asdict(self).items() if value or name != "repeats"}


DEFAULT = "eccv-18"
DESIGNS = {  # section 3.2 of the paper, and the 20 questions of its appendix B
    "eccv-18": Design("eccv-18", candidates=16, positives=1, negatives=1),
    "eccv-20": Design("eccv-20", candidates=18, positives=1, negatives=1),
    "repeat-18": Design("repeat-18", candidates=15, positives=1, negatives=1, repeats=1),
}


def load_design(name_or_path: str | Path) -> Design:
    """Return the named design, or the one in a JSON file of ``{"name", "candidates", "positives", "negatives"}``
    and, if pairs are asked twice, ``"repeats"``.

    Raises CounterpartError for an unknown name, or a file that is missing or describes no HIT.
    """
    if str(name_or_path) in DESIGNS:
        return DESIGNS[str(name_or_path)]
    path = Path(name_or_path)
    try:
        given = read_json(path.read_bytes())
    except FileNotFoundError as error:
        raise CounterpartError(
            f"Unknown design {str(path)!r}: use {', '.join(DESIGNS)} or an existing JSON file."
        ) from error
    except OSError as error:
        raise CounterpartError(f"The design file {path} cannot be read: {type(error).__name__}.") from error
    except ValueError as error:
        raise CounterpartError(f"The design file {path} is not valid JSON: {error}.") from error
    return parse_design(given, origin=f"The design {name_or_path}")


def parse_design(given: Any, *, origin: str = "The design") -> Design:
    """Return the design of this name, or check the fields of one; ``origin`` begins the errors."""
    if isinstance(given, str):
        if given not in DESIGNS:
            raise CounterpartError(f"Unknown design {given!r}: use {' or '.join(DESIGNS)}.")
        return DESIGNS[given]
    names = ("name", "candidates", "positives", "negatives")
    if not isinstance(given, dict) or set(given) - {"repeats"} != set(names):
        raise CounterpartError(f"{origin} must be a JSON object of exactly {', '.join(names)}, and repeats if any.")
    if not isinstance(given["name"], str) or not trimmed(given["name"]):
        raise CounterpartError(f"{origin} needs a name.")
    wrong = [
        part for part in (*names[1:], "repeats") if part in given and (type(given[part]) is not int or given[part] < 0)
    ]
    if wrong:
        raise CounterpartError(f"{origin} needs whole numbers from 0 for {some_of(wrong)}.")
    return _checked(Design(**given), origin)


def _checked(design: Design, origin: str) -> Design:
    if design.candidates < 1 or design.controls < 1:
        raise CounterpartError(f"{origin} needs at least 1 candidate and 1 control in a HIT.")
    if design.shown > LARGEST:
        raise CounterpartError(f"{origin} has {design.shown} pairs in a HIT; at most {LARGEST} are allowed.")
    if design.repeats > design.candidates:
        raise CounterpartError(f"{origin} repeats {design.repeats} of {design.candidates} candidates.")
    return design
