"""Rows over what annotators have learned of coloured pictures."""

from core.files.stored_files import write_arrays
from counterpart_annotators.base import Arrays
from counterpart_annotators.options import Value
from mitl.models import Annotator
from pretrained import settings_of


def annotator_of(kind: str, arrays: Arrays, name: str = "annotator", **changed: Value) -> Annotator:
    """A row over weights, in no database."""
    weights = write_arrays(f"annotators/{name}", **arrays)
    return Annotator(
        name=name, kind=kind, options=settings_of(kind, **changed), checkpoint=weights.path, checksum=weights.sha256
    )
