"""FAISS's flat index: its lists, and what it refuses. A fake takes the place of its index on a GPU."""

import sys
from types import SimpleNamespace

import faiss
import numpy as np
import pytest
import torch

from core.errors import CounterpartError
from counterpart_topk import topk_of_products
from mitl.search import flat_index
from mitl.search.flat_index import check_faiss, flat_topk
from tests.factories import make_collection
from tests.mitl.galleries import drawn
from tests.mitl.searches import add_embeddings, retrieve

DEVICES = ["cpu", "cuda"]


class GpuIndex:
    """Sums products in another order than the index of the processor, and refuses long lists, as FAISS does on GPUs."""

    def __init__(self, resources: object, dimensions: int, config: SimpleNamespace) -> None:
        assert config.device == 1
        self._index = faiss.IndexFlatIP(dimensions)

    def add(self, items: np.ndarray) -> None:
        self._index.add(np.ascontiguousarray(items[:, ::-1]))

    def search(self, queries: np.ndarray, k: int):
        if k > 2_048:
            raise RuntimeError("GPU index only supports min/max-K selection up to 2048")
        return self._index.search(np.ascontiguousarray(queries[:, ::-1]), k)


@pytest.fixture
def gpu(monkeypatch) -> SimpleNamespace:
    """A computer with the package for GPUs and a card, whose properties a test may change."""
    card = SimpleNamespace(capability=(9, 0), free=80 * 10**9, packages={"faiss-gpu": "1.15.1"}, seen=1, index=GpuIndex)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA Card")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: card.capability)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (card.free, 80 * 10**9))
    monkeypatch.setattr(flat_index, "installed_packages", lambda: card.packages)
    monkeypatch.setattr("counterpart_topk.topk_of_products", on_processor)
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: card.seen)
    monkeypatch.setattr(faiss, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(faiss, "GpuIndexFlatConfig", SimpleNamespace, raising=False)
    monkeypatch.setattr(faiss, "GpuIndexFlatIP", lambda *given: card.index(*given), raising=False)
    return card


def on_processor(queries, items, k, *, device):
    """The search of what FAISS cannot decide, on the processor: no card is here."""
    return topk_of_products(queries, items, k)


def near_ties(n: int, dim: int) -> np.ndarray:
    """Vectors that float32 products hardly separate, some of them equal."""
    rng = np.random.default_rng(3)
    rows = 1 + 1e-4 * rng.standard_normal((n, dim)).astype(np.float32)
    rows[n // 2 :: 7] = rows[0]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("spare", [1, 16])
def test_its_lists_are_those_of_the_exact_search_bit_by_bit(gpu, monkeypatch, spare, device):
    monkeypatch.setattr(flat_index, "SPARE", spare)
    queries, items = near_ties(40, 24), near_ties(300, 24)
    places, scores = flat_topk(queries, items, 9, device)
    right_places, right_scores = topk_of_products(queries, items, 9)
    assert places.tolist() == right_places.tolist()
    assert scores.tolist() == right_scores.tolist()


def test_the_longest_list_of_a_gpu_is_exact_too(gpu):
    rng = np.random.default_rng(1)
    queries, items = (rng.standard_normal((n, 8)).astype(np.float32) for n in (2, 2_100))
    places, _ = flat_topk(queries, items, 2_048, "cuda")
    assert places.tolist() == np.argsort(-(queries.astype(float) @ items.T.astype(float)))[:, :2_048].tolist()


@pytest.mark.django_db
def test_a_retrieval_asks_the_gpu_s_index_both_ways_and_is_the_same_file(gpu, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(gpu, "index", lambda *given: asked.append(given) or GpuIndex(*given))
    brought = add_embeddings(tmp_path, drawn(1, 6, 6), drawn(2, 12, 6))
    zoo = make_collection(images=6)
    made = []
    for device in DEVICES:
        retrieval = retrieve(zoo, annotators=[brought], depth=4, engine="faiss", device=device)[0]
        made.append((retrieval.sha256, len(asked)))
        retrieval.delete()
    assert made == [(made[0][0], 0), (made[0][0], 2)]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"packages": {"faiss-cpu": "1.15.1"}}, "not for faiss-cpu 1.15.1: pip uninstall"),
        ({"packages": {"faiss-gpu-cu12": "1.14.1"}}, "not for faiss-gpu-cu12 1.14.1"),  # ends the process on an H100
        ({"packages": {"faiss-cpu": "1.15.1", "faiss-gpu": "1.15.1"}}, "not for faiss-cpu 1.15.1 and faiss-gpu 1.15.1"),
        ({"capability": (6, 1)}, "7.0 or more, and NVIDIA Card has 6.1"),
        ({"seen": 0}, "finds no GPU"),
        ({"depth": 2_049}, "2048 places, not 2049"),
    ],
)
def test_a_card_or_a_package_that_cannot_serve_is_refused_before_it_is_used(gpu, given, sentence):
    vars(gpu).update(given)
    with pytest.raises(CounterpartError, match=sentence) as refused:
        check_faiss("cuda", given.get("depth", 25))
    assert str(refused.value).endswith("; or use --engine blocked.")


def test_items_that_do_not_fit_into_the_card_s_memory_are_refused(gpu):
    gpu.free = 10**9
    with pytest.raises(CounterpartError, match="2.1 GB .* 1.0 GB"):
        flat_topk(np.ones((2, 4), np.float32), np.eye(3, 4, dtype=np.float32), 1, "cuda")


def test_what_faiss_says_when_it_fails_on_the_card_is_one_line(gpu):
    gpu.index = lambda *given: (_ for _ in ()).throw(RuntimeError("alloc fail\n(cudaMalloc error out of memory [2])"))
    with pytest.raises(CounterpartError, match=r"\(alloc fail \(cudaMalloc"):
        flat_topk(np.ones((2, 4), np.float32), np.eye(3, 4, dtype=np.float32), 1, "cuda")


def test_libraries_that_cannot_be_loaded_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(CounterpartError, match="requirements-gpu.txt"):
        flat_index.count_gpus()
