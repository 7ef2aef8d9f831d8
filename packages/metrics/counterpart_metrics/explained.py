"""Which protocol gives a figure: ``61.1``, or ``R@1 i2t=61.1`` where more is known of it."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from counterpart_metrics.errors import CounterpartError, counted
from counterpart_metrics.protocols import WORDS, Protocol

METRICS = ("R@1", "R@5", "R@10", "mAP@R", "R-Precision", "rsum", "PMRP")
SUM = "rsum"
CUT = "cut off, not rounded"
SHARE = "as a share of 1"
NEAREST = 3
SHOWN = 12
_FIGURE = re.compile(r"(?:(.*)=)?\s*(\d+(?:[.,](\d+))?)\s*(%?)\s*")
_PARTS = {"average": "average", "mean": "average", "both": "average"} | {
    written: part for part in ("i2t", "t2i") for written in (part, part.upper(), WORDS[part].replace(" ", "-"))
}


@dataclass(frozen=True)
class Wanted:
    """A figure as it was printed, and its metric and part where they are known."""

    text: str
    number: float
    digits: int
    percent: bool
    metric: str = ""
    part: str = ""

    @classmethod
    def of(cls, text: str) -> "Wanted":
        """Read ``61.1``, ``61.1%``, ``0.611`` or ``R@1 i2t=61.1``. Raises CounterpartError for another text."""
        if not (found := _FIGURE.fullmatch(text)):
            raise CounterpartError(f"{text!r} is not a figure. Write 61.1 or 0.611, or with its metric R@1 i2t=61.1.")
        named, number, digits, sign = found.groups()
        metric = part = ""
        for word in (named or "").split():
            known = {one.lower(): one for one in METRICS}
            if word in _PARTS:
                part = _PARTS[word]
            elif word.lower() in known:
                metric = known[word.lower()]
            else:
                raise CounterpartError(f"Unknown word {word!r}: use {', '.join(METRICS)}, and i2t, t2i or average.")
        return cls(text, float(number.replace(",", ".")), len(digits or ""), bool(sign), metric, part)


@dataclass(frozen=True)
class Explanation:
    """What a protocol prints, how far that is from the figure, and whether it gives it to the printed digits."""

    protocol: Protocol
    shown: float
    distance: float
    gives: bool
    how: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "; ".join([str(self.protocol), *self.how])


def explain(protocols: Sequence[Protocol], wanted: Wanted) -> list[Explanation]:
    """Return the protocols of the wanted metric and part, of equal ones that with the fewest choices: first those that
    give the figure, by the number of unusual choices; others by distance."""
    found: dict[tuple[str, str, str, float], Explanation] = {}
    for one in sorted(protocols, key=lambda one: len(one.choices)):
        if wanted.metric in ("", one.metric.split()[0]) and wanted.part in ("", one.part):
            alike = "R@1" if one.metric in ("mAP@R", "R-Precision") else one.metric  # the same of a single match
            found.setdefault((one.on, alike, one.part, round(one.value, 12)), _explained(one, wanted))
    if not found:
        raise CounterpartError(f"No protocol of this run has a figure for {wanted.text!r}. Leave out its metric.")
    return sorted(found.values(), key=_order)


def _explained(one: Protocol, wanted: Wanted) -> Explanation:
    scales = {100.0: ()} if wanted.percent or wanted.number > 1 or one.metric == SUM else {100.0: (), 1.0: (SHARE,)}
    near = min(scales, key=lambda scale: abs(one.value * scale - wanted.number))
    shown = one.value * near
    last = 10.0**-wanted.digits
    rounds = abs(shown - wanted.number) <= last / 2 + 1e-9
    cuts = -1e-9 <= shown - wanted.number < last
    how = (*scales[near], *([CUT] if cuts and not rounds else []))
    return Explanation(one, shown, abs(shown - wanted.number), rounds or cuts, how)


def _order(one: Explanation) -> tuple[bool, int, int, float]:
    unusual = len(one.protocol.choices) + (CUT in one.how) + one.protocol.matches.startswith("each")
    place = METRICS.index(one.protocol.metric.split()[0])
    return (not one.gives, unusual, place, one.distance) if one.gives else (True, 0, 0, one.distance)


def summary(found: Sequence[Explanation], wanted: Wanted) -> str:
    """Say in a sentence which protocol gives the figure, or name the nearest."""
    best = found[0]
    number = wanted.text.rpartition("=")[2].strip()
    digits = wanted.digits
    if not best.gives:
        near = (f"{one.shown:.{digits + 1}f} ({one.distance:.{digits + 1}f} off: {one})" for one in found[:NEAREST])
        return f"No protocol gives {number}. The nearest are {', '.join(near)}."
    ties = ""
    if best.protocol.ties:
        scale = best.shown / best.protocol.value if best.protocol.value else 100
        low, high = (f"{end * scale:.{digits}f}" for end in best.protocol.ties)
        in_order = f"; equal scores in the order of the file ({low} to {high} in others)"
        ties = "; ties do not matter" if low == high else in_order
    more = sum(one.gives for one in found) - 1
    others = f" {counted(more, 'further protocol gives', 'further protocols give')} it too." if more else ""
    return f"{number} is {best}{ties}.{others}"


def printed(found: Sequence[Explanation], wanted: Wanted, notes: Sequence[str] = ()) -> str:
    """Return the summary and a row a protocol: ``=`` where it gives the figure, what it prints, the distance, words."""
    given = sum(one.gives for one in found)
    digits = wanted.digits + 1
    rows = [
        f"{'=' if one.gives else ' '} {one.shown:9.{digits}f}  {one.distance:8.{digits}f}  {one}"
        for one in found[: max(SHOWN, given)]
    ]
    return "\n".join([summary(found, wanted), "", f"  {'figure':>9}  {'distance':>8}  protocol", *rows, *notes])


def figures_of(found: Sequence[Explanation], wanted: Wanted, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the same for programs, every protocol with its parts."""
    rows = [
        {**asdict(one.protocol), "figure": one.shown, "distance": one.distance, "gives": one.gives, "how": one.how}
        for one in found
    ]
    return {"figure": wanted.text, "answer": summary(found, wanted), "notes": list(notes), "protocols": rows}
