"""Top lists as five machines might have found them, drawn at random: benchmarks of pooling need no search."""

import numpy as np

MACHINES, DEPTH, LIKELY = 5, 25, 30


def draw_lists(collection) -> None:
    """Store a retrieval of every machine over the collection's sample. Each machine chooses among the 30 likeliest
    items of a query, which gives the paper's share of pairs that several machines name."""
    from mitl.gallery import open_gallery
    from mitl.lists import RankedLists, store_lists
    from mitl.models import Annotator, Direction, Retrieval
    from mitl.retrieval import fingerprint

    rng = np.random.default_rng(0)
    sample = collection.samples.get()
    gallery = open_gallery(collection, sample)
    sides = {
        Direction.IMAGE_TO_CAPTION: (gallery.image_ids[gallery.image_queries], gallery.caption_ids),
        Direction.CAPTION_TO_IMAGE: (gallery.caption_ids[gallery.caption_queries], gallery.image_ids),
    }
    likely = {
        side: np.stack([rng.choice(items, LIKELY, replace=False) for _ in queries])
        for side, (queries, items) in sides.items()
    }
    for number in range(MACHINES):
        lists = {
            side: RankedLists(
                queries,
                rng.permuted(likely[side], axis=1)[:, :DEPTH],
                -np.sort(-rng.random((len(queries), DEPTH)).astype(np.float32), axis=1),
            )
            for side, (queries, _) in sides.items()
        }
        stored = store_lists(f"retrievals/machine-{number}", lists)
        machine = Annotator.objects.create(name=f"machine-{number}", kind="files")
        Retrieval.objects.create(
            annotator=machine, fingerprint=fingerprint(machine, gallery),
            collection=collection, sample=sample, depth=DEPTH, engine="blocked",
            file=stored.path, sha256=stored.sha256, seconds=0,
        )  # fmt: skip
