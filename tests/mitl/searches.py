"""Searches with the arguments that tests vary, from collection and sample instead of a gallery."""

import numpy as np

from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.search import retrieval
from mitl.search.gallery import open_gallery
from mitl.search.request import Search


def add_embeddings(folder, images, captions, name: str = "theirs") -> Annotator:
    """Add an annotator with these vectors of a collection whose keys count through."""
    ids = {"image_ids": np.arange(len(images)), "caption_ids": np.arange(len(captions))}
    np.savez(folder / f"{name}.npz", images=images, captions=captions, **ids)
    return add_annotator(name, kind="files", checkpoint=folder / f"{name}.npz")


def search(collection, annotators, sample=None, **how) -> Search:
    return Search(open_gallery(collection, sample), annotators, **how)


def retrieve(collection, *, annotators, sample=None, tune=None, confirm=None, progress=lambda *_: None, **how):
    wanted = search(collection, annotators, sample, **how)
    return retrieval.retrieve(wanted, tune=tune, confirm=confirm, progress=progress)


def estimate_retrieval(collection, *, annotators, sample=None, **how):
    return retrieval.estimate_retrieval(search(collection, annotators, sample, **how))
