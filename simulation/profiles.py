"""Profiles of simulated crowds, read from a preset or a JSON file and checked."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from core.errors import CounterpartError, some_of
from core.untrusted import read_json

PRESETS = Path(__file__).parent / "presets"
DEFAULT = "careful"

# Ways to end a turn that exist only on a platform, as shares of all turns.
CONDUCT = ("returns", "abandons", "double_clicks", "stale_tabs", "lost_codes", "second_devices")

# Smallest and largest value of each number in a profile.
BOUNDS: Mapping[str, tuple[float, float]] = {
    "likeness": (1, 1e9),
    "careless_workers": (0, 1),
    "random_clicks": (0, 1),
    "seconds_per_pair": (0.1, 3600),
    "speed_spread": (0, 3),
    "excluded": (0, 1),
    "misreading_workers": (0, 1),
    "following_workers": (0, 1),
    "follows": (0, 1),
    **dict.fromkeys(CONDUCT, (0, 1)),
}


@dataclass(frozen=True)
class Profile:
    """A crowd.

    ``confusion``: row = true level 1-4, column = share of an attentive worker's answers at level 1-4.
    ``likeness``: how similar the workers are; each worker's rows are drawn from a Dirichlet distribution with this
    many pseudo-counts. ``careless_workers``: share of workers who click at random in the share ``random_clicks`` of
    their answers. ``seconds_per_pair``: the median worker's time; ``speed_spread``: standard deviation of its logarithm
    between workers. ``excluded``: share of flagged assignments that a simulated reviewer excludes; the others count;
    None leaves all of them to people.

    The others default to 0. ``misreading_workers``: share of workers who read the scale in reverse.
    ``following_workers``: share of workers who give the share ``follows`` (default 1) of their answers by the ranking
    of the annotator ``followed`` of the round's pool, in place of looking. On a platform, shares of all turns:
    ``returns`` returns the HIT, ``abandons`` lets its time run out, ``double_clicks`` sends every form twice at once,
    ``stale_tabs`` sends other answers from a second tab afterwards, ``lost_codes`` ends without the completion code,
    ``second_devices`` goes on at another device.
    """

    confusion: tuple[tuple[float, ...], ...]
    likeness: float
    careless_workers: float
    random_clicks: float
    seconds_per_pair: float
    speed_spread: float
    excluded: float | None
    misreading_workers: float = 0.0
    following_workers: float = 0.0
    follows: float = 1.0
    followed: str = ""
    returns: float = 0.0
    abandons: float = 0.0
    double_clicks: float = 0.0
    stale_tabs: float = 0.0
    lost_codes: float = 0.0
    second_devices: float = 0.0

    @property
    def misconduct(self) -> dict[str, float]:
        """Shares of the turns that do not end with one submission, by name."""
        return {name: getattr(self, name) for name in CONDUCT}


def load_profile(name_or_path: str = DEFAULT) -> Profile:
    """Load a preset by its name, or a JSON file with exactly the fields of Profile.

    Raises CounterpartError for a missing, unknown or out-of-range field.
    """
    presets = {path.stem: path for path in sorted(PRESETS.glob("*.json"))}
    path = presets.get(name_or_path, Path(name_or_path))
    try:
        read = read_json(path.read_bytes())
    except OSError as error:
        raise CounterpartError(
            f"Unknown crowd profile {name_or_path!r}: use {', '.join(presets)} or a JSON file."
        ) from error
    except ValueError as error:
        raise CounterpartError(f"The crowd profile {path} is not valid JSON: {error}.") from error
    return _checked(path, read)


def _checked(path: Path, read: Any) -> Profile:
    known = {field.name for field in fields(Profile)}
    needed = {field.name for field in fields(Profile) if field.default is MISSING}
    given = set(read) if isinstance(read, dict) else set()
    if odd := sorted((needed - given) | (given - known)):
        raise CounterpartError(f"Missing or unknown fields in the crowd profile {path}: {some_of(odd, at_most=8)}.")
    read = {field.name: field.default for field in fields(Profile) if field.name not in needed} | read
    for name, (least, most) in BOUNDS.items():
        value = read[name]
        if name == "excluded" and value is None:
            continue
        if not _is_number(value) or not least <= value <= most:
            raise CounterpartError(f"Invalid {name} {value!r} in the crowd profile {path}: use {least:g} to {most:g}.")
    if not isinstance(read["followed"], str) or (read["following_workers"] and not read["followed"]):
        raise CounterpartError(f"Invalid followed {read['followed']!r} in the crowd profile {path}: name an annotator.")
    if (total := sum(read[name] for name in CONDUCT)) > 1:
        raise CounterpartError(
            f"{', '.join(CONDUCT)} in the crowd profile {path} sum to {total:g}; the sum must be at most 1."
        )
    return Profile(**{**read, "confusion": _checked_confusion(path, read["confusion"])})


def _checked_confusion(path: Path, rows: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(rows, list) or len(rows) != 4 or not all(isinstance(row, list) and len(row) == 4 for row in rows):
        raise CounterpartError(f"Invalid confusion in the crowd profile {path}: use 4 rows of 4 shares.")
    for level, row in enumerate(rows, 1):
        if not all(_is_number(share) and share >= 0 for share in row) or abs(sum(row) - 1) > 1e-6:
            raise CounterpartError(
                f"Row {level} of confusion in the crowd profile {path} is {row}; its shares must sum to 1."
            )
    return tuple(tuple(row) for row in rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
