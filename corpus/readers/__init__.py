"""Readers of captioned-image collections, one module per layout; each streams records from one path."""

from core.extensions import COLLECTION_READERS, load
from corpus.readers.layouts import Layout

READERS: dict[str, Layout] = load(COLLECTION_READERS)
"""Name of a format → its layout; the first that fits a file counts."""
