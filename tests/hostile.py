"""What every reader refuses or survives: texts that no database stores, numbers of thousands of digits, lists in very
many levels."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import CounterpartError
from core.untrusted import unstorable

DIGITS = "9" * 5_000  # Python reads 4,300, and ijson's compiled reader ends the process
DEEP = "[" * 5_000 + "]" * 5_000
IN_JSON = {
    "half a pair": rb'"\ud800"',
    "half a pair, raw": b'"\xed\xa0\x80"',
    "half a pair after a backslash": rb'"\\ud83d\udc00"',
    "a NUL": rb'"a\u0000b"',
    "digits": DIGITS.encode(),
    "400 digits": b"9" * 400,
    "an infinite number": b"1e999",
    "NaN": b"NaN",
    "levels": DEEP.encode(),
}
"""JSON that no reader accepts, by what it is."""
OTHER_JSON = {
    "more than 32 bits": b"2147483648",
    "64 bits": b"9223372036854775807",
    "half": b"0.5",
    "null": b"null",
}
"""JSON that some readers accept."""


def survives(read: Callable[[], object]) -> str:
    """Read to the end, and return what was refused, if it was. Any other error fails the test."""
    try:
        found = read()
        if isinstance(found, Iterator):
            list(found)
    except CounterpartError as error:
        said = str(error)
    else:
        return ""
    assert unstorable(said) == "", "a job could not store it"
    return said


@pytest.fixture
def write(tmp_path) -> Callable[[str, bytes], Path]:
    def written(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return written
