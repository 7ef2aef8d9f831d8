"""The error with a message for people: it names the offender, the count and the next step."""

from collections.abc import Sequence

_WRITTEN_OUT = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), 127)}


class CounterpartError(Exception):
    """Invalid input or an impossible request. Its text is one clear line; nothing was changed.

    It may quote untrusted text: control characters and halves of surrogate pairs are written as escapes.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text.translate(_WRITTEN_OUT).encode(errors="backslashreplace").decode())


def some_of(offenders: Sequence[object], *, at_most: int = 5) -> str:
    """List the first few offenders: ``12, 40, 77 and 9 more``."""
    shown = ", ".join(str(offender) for offender in offenders[:at_most])
    rest = len(offenders) - at_most
    return f"{shown} and {rest} more" if rest > 0 else shown


def counted(n: int, one: str, many: str = "") -> str:
    """``1 control``, ``2,902 HITs``; with ``many``, ``1 image has`` and ``2 images have``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
