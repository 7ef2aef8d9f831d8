"""FAISS: which of its packages is installed, whether it can search on a GPU, and exact lists by its flat index."""

from importlib.metadata import packages_distributions, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from mitl.search.gallery import Found, Places

SPARE = 16  # places beyond the wanted ones, so that few lists end among near ties
GPU_PACKAGE = "faiss-gpu"
# The wheel has code for 7.0, 7.5, 8.0, 8.6, 8.9 and 9.0, and PTX of 9.0, of which drivers make code for later cards.
# On a card that it has no code for, FAISS ends the process.
LEAST_CAPABILITY = (7, 0)
LONGEST = 2_048  # places of a list on a GPU
WORKSPACE = 2 * 2**30  # bytes on the card, without items and lists: FAISS's 1.5 GiB, a part of the queries, the kernels


def installed_packages() -> dict[str, str]:
    """Return the versions of the packages that give the module ``faiss``, by name. Two overwrite each other's files."""
    return {name: version(name) for name in sorted({*packages_distributions().get("faiss", [])})}


def how_to_install() -> str:
    """Return the commands that put the package for GPUs in place of what is installed."""
    return f"pip uninstall -y {' '.join(installed_packages())} && pip install -r requirements-gpu.txt"


def count_gpus() -> int:
    """Return the number of GPUs that FAISS finds. Raises CounterpartError where its libraries cannot be loaded."""
    try:
        import faiss
    except (ImportError, OSError, RuntimeError) as error:  # such as CUDA's libraries that are missing
        raise CounterpartError(f"FAISS cannot be loaded ({error}): {how_to_install()}.") from error
    return faiss.get_num_gpus()


def check_faiss(device: str, depth: int) -> None:
    """Raise CounterpartError unless FAISS can make lists of this depth on the device, on which torch can compute."""
    if device == "cpu":
        return
    import torch

    packages = installed_packages()
    installed = " and ".join(f"{name} {number}" for name, number in packages.items())
    capability = torch.cuda.get_device_capability()
    if [*packages] != [GPU_PACKAGE]:
        reason = f"is for {GPU_PACKAGE} alone, not for {installed}: {how_to_install()}"
    elif capability < LEAST_CAPABILITY:
        least, given = (".".join(map(str, numbers)) for numbers in (LEAST_CAPABILITY, capability))
        reason = f"needs a compute capability of {least} or more, and {torch.cuda.get_device_name()} has {given}"
    elif count_gpus() == 0:
        reason = f"finds no GPU, although torch does; update the driver for the CUDA 12 of {installed}"
    elif depth > LONGEST:
        reason = f"makes lists of at most {LONGEST} places, not {depth}"
    else:
        return
    raise CounterpartError(f"--engine faiss with --device cuda {reason}; or use --engine blocked.")


def flat_topk(queries: NDArray, items: NDArray, k: int, device: str = "cpu") -> Found:
    """Search a flat index a little deeper than asked, and rank what it finds by float64 products.

    Queries whose list float32 scores cannot decide are searched exactly, so the lists are those of the other engine.

    Raises ValueError for embeddings that are not finite, or do not fit together, and CounterpartError where a GPU's
    memory is too small.
    """
    # Imported here as torch is; loading both where one is used would cost each command a second.
    from counterpart_topk import topk_of_products
    from counterpart_topk.products import Products
    from counterpart_topk.ranking import Candidates, empty_ranking, rank_candidates
    from counterpart_topk.sides import fit_together, open_side

    asking = open_side(queries, "queries")
    asked = open_side(items, "items")
    fit_together(asking, asked)
    depth = min(k + SPARE, len(asked), len(asked) if device == "cpu" else LONGEST)
    rows, columns = (side.values.astype(np.float32, copy=False) for side in (asking, asked))
    scores, places = _search(rows, columns, depth, device)
    ranking = empty_ranking(len(asking), k)
    candidates = Candidates(np.full(len(asking), depth), places.ravel())
    rank_candidates(asking, slice(0, len(asking)), asked, candidates, ranking)
    if depth < len(asked):
        # An item that FAISS left out scores no more than its last one, but for the rounding errors of float32.
        unsure = ranking.scores[:, -1] <= scores[:, -1] + Products("float32").margins(asking, asked)
        if unsure.any():
            ranking.places[unsure], ranking.scores[unsure] = topk_of_products(queries[unsure], items, k, device=device)
    return ranking.places, ranking.scores


def _search(
    queries: NDArray[np.float32], items: NDArray[np.float32], depth: int, device: str
) -> tuple[NDArray[np.float32], Places]:
    """Return FAISS's scores and places, each (n, depth)."""
    import faiss

    try:
        index = faiss.IndexFlatIP(items.shape[1]) if device == "cpu" else _gpu_index(queries, items, depth)
        index.add(items)
        return index.search(queries, depth)
    except RuntimeError as error:  # such as memory of the GPU that another process has taken
        reason = " ".join(str(error).split())[:300]
        raise CounterpartError(f"FAISS failed on the device {device} ({reason}); use --engine blocked.") from error


def _gpu_index(queries: NDArray, items: NDArray, depth: int) -> Any:
    """Return an empty index on torch's GPU. Raises CounterpartError where the items do not fit into its free memory."""
    import faiss
    import torch

    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    wanted = items.nbytes + 12 * len(queries) * depth + WORKSPACE
    if wanted > free:
        raise CounterpartError(
            f"FAISS needs {wanted / 1e9:.1f} GB on the GPU for {len(items)} items, and {free / 1e9:.1f} GB are free;"
            " use --engine blocked."
        )
    config = faiss.GpuIndexFlatConfig()
    config.device = torch.cuda.current_device()
    return faiss.GpuIndexFlatIP(faiss.StandardGpuResources(), items.shape[1], config)
