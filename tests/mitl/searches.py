"""Searches with the arguments that tests vary, from collection and sample instead of a gallery."""

import json

import numpy as np

from corpus.models import Collection, Sample
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


def add_lists(folder, i2t, t2i) -> Annotator:
    """Add an annotator with these ranked lists of keys."""
    (folder / "lists.json").write_text(json.dumps({"i2t": i2t, "t2i": t2i}))
    return add_annotator("theirs", kind="files", checkpoint=folder / "lists.json")


def few_queries(collection: Collection, images, captions) -> Sample:
    """A sample of these keys."""
    sample = Sample.objects.create(name="few", collection=collection, seed=0)
    sample.images.set(collection.images.filter(key__in=images))
    sample.captions.set(collection.captions.filter(key__in=captions))
    return sample


def search(collection, annotators, sample=None, **how) -> Search:
    return Search(open_gallery(collection, sample), annotators, **how)


def retrieve(collection, *, annotators, sample=None, tune=None, confirm=None, progress=lambda *_: None, **how):
    wanted = search(collection, annotators, sample, **how)
    return retrieval.retrieve(wanted, tune=tune, confirm=confirm, progress=progress)


def single_run(collection, annotator, sample=None) -> str:
    """The checksum of a search that is made at once; it is forgotten then."""
    (made,) = retrieve(collection, annotators=[annotator], sample=sample, depth=9)
    made.delete()
    return made.sha256


def kept_files(settings) -> list[str]:
    """What is kept of searches that broke off."""
    return sorted(path.name for path in (settings.VAR_DIR / "partial").rglob("*.part"))


def estimate_retrieval(collection, *, annotators, sample=None, **how):
    return retrieval.estimate_retrieval(search(collection, annotators, sample, **how))
