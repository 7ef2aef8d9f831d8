"""Zip files that people upload."""

from io import BytesIO
from zipfile import ZipFile


def zipped_as(files: dict[str, bytes]) -> bytes:
    """A zip file with these files by their paths."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


def zipped(**pictures: bytes) -> bytes:
    """A zip file of pictures by their names without ``.jpg``."""
    return zipped_as({f"{name}.jpg": content for name, content in pictures.items()})
