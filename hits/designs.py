"""How a HIT is composed: the two designs of the ECCV Caption paper, or one from a JSON file."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import CounterpartError, some_of

AT_MOST = 100  # pairs in a HIT: more than anybody judges in one go


@dataclass(frozen=True)
class Design:
    """How many candidate pairs and gold controls make a HIT. At least one candidate and one control:
    the controls also top up the last HIT."""

    name: str
    candidates: int
    positives: int
    negatives: int

    @property
    def size(self) -> int:
        """Pairs in a HIT."""
        return self.candidates + self.positives + self.negatives

    @property
    def controls(self) -> int:
        return self.positives + self.negatives

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


DESIGNS = {  # section 3.2 of the paper, and the 20 questions of its appendix B
    "eccv-18": Design("eccv-18", candidates=16, positives=1, negatives=1),
    "eccv-20": Design("eccv-20", candidates=18, positives=1, negatives=1),
}


def load_design(name_or_path: str | Path) -> Design:
    """Return the named design, or the one in a JSON file of ``{"name", "candidates", "positives", "negatives"}``.

    Raises CounterpartError if there is neither, or the file does not describe a HIT.
    """
    if str(name_or_path) in DESIGNS:
        return DESIGNS[str(name_or_path)]
    return parse_design(_read(Path(name_or_path)), origin=str(name_or_path))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CounterpartError(
            f"There is no design {str(path)!r}: name {' or '.join(DESIGNS)}, or a JSON file that exists."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise CounterpartError(f"The design file {path} cannot be read: {type(error).__name__}.") from error
    except json.JSONDecodeError as error:
        raise CounterpartError(f"The design file {path} is no JSON: {error}.") from error


def parse_design(fields: Any, *, origin: str) -> Design:
    """Check what a design file or a job's parameters hold; ``origin`` is named in the error."""
    wanted = ("name", "candidates", "positives", "negatives")
    if not isinstance(fields, dict) or set(fields) != set(wanted):
        raise CounterpartError(f"The design {origin} must be a JSON object of exactly {', '.join(wanted)}.")
    if not isinstance(fields["name"], str) or not fields["name"].strip():
        raise CounterpartError(f"The design {origin} needs a name.")
    wrong = [part for part in wanted[1:] if type(fields[part]) is not int or fields[part] < 0]
    if wrong:
        raise CounterpartError(f"The design {origin} needs whole numbers from 0 for {some_of(wrong)}.")
    return _checked(Design(**fields), origin)


def _checked(design: Design, origin: str) -> Design:
    if design.candidates < 1 or design.controls < 1:
        raise CounterpartError(f"The design {origin} needs at least 1 candidate and 1 control a HIT.")
    if design.size > AT_MOST:
        raise CounterpartError(f"The design {origin} asks {design.size} pairs a HIT; at most {AT_MOST} are allowed.")
    return design
