"""Computing with torch so that the same seed gives the same numbers again."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def repeatable(seed: int, threads: int = 1) -> Iterator[None]:
    """Run torch with a seed of its own and always as many threads: sums depend on how they are split.

    On a GPU the last digits may still differ: some sums are taken there in whatever order their parts are ready.
    """
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
