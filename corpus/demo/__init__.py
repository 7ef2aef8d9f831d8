"""The drawn demo collection: pictures of a scene grammar, captions that fit many of them, and the exact truth."""

from corpus.demo.making import make_demo_collection

__all__ = ["make_demo_collection"]
