"""Whether searches can use networks, Ray, a GPU and FAISS here: checks of ``doctor``."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from core.text import counted
from mitl.search import flat_index
from mitl.search.engines import on_ray

GPU_TORCH = "pip uninstall torch && pip install -r requirements.txt, and install a driver for torch's CUDA"


LARGE = ("torch", "transformers", "nltk", "cv2", "crowdkit")  # modules that requirements-site.txt leaves out


def find_networks() -> Iterator[tuple[str, str]]:
    if missing := _missing():
        yield (
            f"without {', '.join(missing)}: this host serves pages, but cannot train, search or count by glad",
            "",
        )


def find_ray() -> Iterator[tuple[str, str]]:
    if not os.environ.get("RAY_ADDRESS"):
        yield "RAY_ADDRESS names no cluster", ""
    elif problem := on_ray.cluster_problem():
        yield problem, "RAY_AUTH_MODE=token, and pip install -r requirements-cluster.txt"
    else:
        yield f"the cluster at {os.environ['RAY_ADDRESS']} asks for a token", ""


def find_gpu() -> Iterator[tuple[str, str]]:
    if "torch" in _missing():
        return
    import torch  # takes seconds

    if torch.cuda.is_available():
        yield f"{torch.cuda.get_device_name()}, torch {torch.__version__}", ""
    elif Path("/dev/nvidia0").exists():
        yield f"torch {torch.__version__} cannot use this computer's NVIDIA GPU.", GPU_TORCH
    else:
        yield f"none; torch {torch.__version__} on the CPU", ""


def find_faiss() -> Iterator[tuple[str, str]]:
    packages = flat_index.installed_packages()
    if not packages and _missing():
        return
    installed = " and ".join(f"{package} {number}" for package, number in packages.items())
    if len(packages) == 1:
        yield f"{installed}, which finds {counted(flat_index.count_gpus(), 'GPU')}", ""
    else:
        yield f"{installed} overwrite each other's files.", flat_index.how_to_install()


def _missing() -> list[str]:
    return [name for name in LARGE if find_spec(name) is None]
