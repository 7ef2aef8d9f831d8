"""Text of any origin: UTF-8, with or without a byte order mark, in lines that end in LF, CR LF or CR.

What no reader can see does not distinguish ids and names. They are compared in Unicode's composed form (NFC).
"""

import codecs
import gzip
import re
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, cast

from counterpart_metrics.errors import CounterpartError

_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}  # the longer first, whose beginning is a shorter one
_WIDE_ZEROS = {(1, 3): "UTF-16", (0, 2): "UTF-16", (1, 2, 3): "UTF-32", (0, 1, 2): "UTF-32"}
"""The places of NUL in the first 4 bytes of a text without a mark that begins in ASCII."""
_OTHERS = {
    rb"PK\x03\x04": "an Excel file or a zip archive. Save its sheet as CSV in UTF-8, or unpack it",
    rb"\xd0\xcf\x11\xe0": "an Excel file. Save its sheet as CSV in UTF-8",
    rb"(?i)\s*<(!doctype html|html)\b": "a web page. Download the file again",
}
INVISIBLE = "\ufeff\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
INVISIBLE += "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069"
GZIP_MAGIC = b"\x1f\x8b"
_BLANK = INVISIBLE + "".join(sign for sign in map(chr, range(0x3001)) if sign.isspace())


def bare(text: str) -> str:
    """Return an id or a name without blanks and invisible characters at its ends.

    >>> bare("\\ufeff100277 ")
    '100277'
    """
    return text.strip(_BLANK)


def comparable(text: str) -> str:
    """Return an id or a name as it is compared with others: ``bare``, and in Unicode's composed form."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", bare(text))


def wide_encoding(beginning: bytes) -> str:
    """Return UTF-16 or UTF-32 for bytes that begin like such a text, with or without a mark; "" for others."""
    zeros = tuple(place for place, byte in enumerate(beginning[:4]) if not byte)
    marked = (encoding for mark, encoding in _WIDE_MARKS.items() if beginning.startswith(mark))
    return next(marked, "") or _WIDE_ZEROS.get(zeros, "")


def check_encoding(name: str, beginning: bytes) -> None:
    """Raise CounterpartError where a file of this name begins like a text in UTF-16 or UTF-32, or like other files that
    people take for text."""
    if encoding := wide_encoding(beginning):
        raise CounterpartError(f"{name} is {encoding} text. Convert it to UTF-8 first.")
    for begins, kind in _OTHERS.items():
        if re.match(begins, beginning):
            raise CounterpartError(f"{name} is {kind}.")


def not_utf8(name: str, error: UnicodeDecodeError, end: int) -> CounterpartError:
    """Return the error for a file whose decoder has failed after reading it up to ``end``: it names the byte."""
    byte = error.object[error.start]
    place = end - len(error.object) + error.start
    latin = bytes([byte]).decode("cp1252", errors="replace")
    perhaps = f", {latin} in Latin-1" if latin.isprintable() and latin != "\ufffd" else ""
    return CounterpartError(
        f"{name} is not UTF-8 text (byte {place:,} is 0x{byte:02X}{perhaps}). Convert it to UTF-8 first."
    )


@contextmanager
def opened(path: Path, name: str = "") -> Iterator[IO[bytes]]:
    """Open ``path`` for reading bytes; gzip is recognised by its first bytes.

    Raises CounterpartError for a file that is missing, unreadable, cut short or damaged.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(2)[:2] == GZIP_MAGIC
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if zipped else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CounterpartError(f"{name or path.name} is cut short or damaged ({error}). Download it again.") from error
    except OSError as error:
        raise CounterpartError(f"Cannot read {name or path}: {error.strerror or error}.") from error


@contextmanager
def as_text(name: str, file: IO[bytes], *, newline: str | None = None) -> Iterator[TextIOWrapper]:
    """Open a file of bytes as text, from its beginning. Lines end in LF; in what they were, where ``newline`` is "".

    Raises CounterpartError for text in another encoding. ``name`` is the file's in errors.
    """
    check_encoding(name, file.read(64))
    file.seek(0)
    try:
        yield TextIOWrapper(file, encoding="utf-8-sig", newline=newline)
    except UnicodeDecodeError as error:
        raise not_utf8(name, error, file.tell()) from error


def read_text(path: Path, name: str = "") -> str:
    """Return the text of a file, whose lines end in LF. Raises CounterpartError as ``as_text`` does."""
    with path.open("rb") as file, as_text(name or path.name, file) as text:
        return text.read()
