"""Our figures against those of both programs that call themselves eccv_caption 0.1.0.

``Metrics`` is PyPI's file of April 2022. ``Main`` has what the repository's main of July 2026 does otherwise: PMRP
has a key of its own, the metric's name is spelt right, and truncated rankings give -1 with a warning.
"""

import gzip
import json
import warnings

import numpy as np
import pytest
from eccv_caption import Metrics

from counterpart_metrics import Qrels, Rankings, find, plausible_matches, score
from counterpart_metrics.binary import METRICS
from counterpart_metrics.plausible import plausible_precision

NAMES = {
    ("coco-1k", "R@1"): "coco_1k_r1",
    ("coco-1k", "R@5"): "coco_1k_r5",
    ("coco-1k", "R@10"): "coco_1k_r10",
    ("coco-5k", "R@1"): "coco_5k_r1",
    ("coco-5k", "R@5"): "coco_5k_r5",
    ("coco-5k", "R@10"): "coco_5k_r10",
    ("cxc", "R@1"): "cxc_r1",
    ("cxc", "R@5"): "cxc_r5",
    ("cxc", "R@10"): "cxc_r10",
    ("eccv", "R@1"): "eccv_r1",
    ("eccv", "R@5"): "eccv_r5",
    ("eccv", "R@10"): "eccv_r10",
    ("eccv", "R-Precision"): "eccv_rprecision",
    ("eccv", "mAP@R"): "eccv_map_at_r",
}
RECALLS = ["coco_1k_recalls", "coco_5k_recalls", "cxc_recalls", "eccv_recalls"]
ECCV = ["eccv_map_at_r", "eccv_rprecision"]


class Main(Metrics):
    """As PyPI's, but for the changes that the repository's main has."""

    def compute_all_metrics(self, i2t: dict, t2i: dict, target_metrics: list, Ks: tuple = (1, 5, 10)) -> dict:  # noqa: N803
        both, wanted = {"i2t": i2t, "t2i": t2i}, set(target_metrics)
        found = super().compute_all_metrics(i2t, t2i, list(wanted - {"pmrp", *ECCV}), Ks)
        if "pmrp" in wanted:
            found["pmrp"] = self.pmrp(both, "all")
        if wanted & set(ECCV):
            try:
                found |= {name: both for name, both in self.eccv_metrics(both, "all").items() if name in wanted}
            except IndexError:
                warnings.warn("The rankings are truncated.", stacklevel=2)
                found |= {name: {"i2t": -1, "t2i": -1} for name in wanted & set(ECCV)}
        return found


class Small:
    """A part of COCO's test split: the first images of each fold with their captions, in both programs."""

    def __init__(self, per_fold: int) -> None:
        self.theirs = {"pypi": Metrics(), "main": Main()}
        whole = self.theirs["pypi"]
        folds = whole.coco_ids.reshape(5, -1)
        kept = folds[:, : 5 * per_fold].ravel()
        captions = set(kept.tolist())
        images = {image for caption in captions for image in whole.coco_gts["t2i"][caption]}
        for program in self.theirs.values():
            program.coco_ids = kept
            for name in ("coco_gts", "cxc_gts", "eccv_gts"):
                part = {
                    "i2t": {q: [i for i in items if i in captions] for q, items in getattr(whole, name)["i2t"].items()},
                    "t2i": {q: [i for i in items if i in images] for q, items in getattr(whole, name)["t2i"].items()},
                }
                asked = {"i2t": images, "t2i": captions}
                part = {d: {q: v for q, v in one.items() if v and q in asked[d]} for d, one in part.items()}
                setattr(program, name, part)
        self.images, self.captions = np.array(sorted(images)), np.array(sorted(captions))


@pytest.fixture(scope="module")
def small(request):
    return Small(6)


@pytest.fixture(autouse=True)
def their_part(request, monkeypatch):
    """Our benchmarks on the same part of the split."""
    if "small" not in request.fixturenames:
        return
    small = request.getfixturevalue("small")
    from counterpart_metrics import named_benchmarks

    one = small.theirs["pypi"]
    parts = {"original": one.coco_gts, "cxc": one.cxc_gts, "eccv": one.eccv_gts}
    qrels = {(name, d): Qrels.of(found) for name, both in parts.items() for d, found in both.items()}
    owner = one.coco_gts["t2i"]
    folds = [
        (np.unique([owner[caption][0] for caption in captions.tolist()]), captions)
        for captions in np.split(one.coco_ids, 5)
    ]
    monkeypatch.setattr(named_benchmarks, "_source", lambda name, direction: qrels[name, direction])
    monkeypatch.setattr(named_benchmarks, "_folds", lambda: folds)
    monkeypatch.setattr(named_benchmarks, "_union", named_benchmarks._union.__wrapped__)


def similarity(kind: str, images: np.ndarray, captions: np.ndarray, matches: dict[int, set[int]]) -> np.ndarray:
    """Random, perfect (all matches of any source first), or like a model's: matches are likelier to be first."""
    rng = np.random.default_rng(7)
    table = rng.standard_normal((len(images), len(captions))).astype(np.float32)
    raised = {"random": 0, "model-like": 1.5, "perfect": 100}[kind]
    for image, found in matches.items():
        table[np.searchsorted(images, image), np.searchsorted(captions, sorted(found))] += raised
    return table


def matches_of(program: Metrics, side: str) -> dict[int, set[int]]:
    """The matches of every query by any source, in the gallery of the program."""
    other = {"i2t": "t2i", "t2i": "i2t"}[side]
    found: dict[int, set[int]] = {query: set() for query in program.coco_gts[side]}
    for matches in (program.coco_gts, program.cxc_gts, program.eccv_gts):
        for query, items in matches[side].items():
            found[query] |= set(items) & program.coco_gts[other].keys()
        for item, queries in matches[other].items():
            for query in queries:
                if query in found and item in program.coco_gts[other]:
                    found[query].add(item)
    return found


def rankings_of(kind: str, small: Small) -> dict[str, Rankings]:
    matches = matches_of(small.theirs["pypi"], "i2t")
    table = similarity(kind, small.images, small.captions, matches)
    return {
        "i2t": Rankings.of_similarity(table, small.images, small.captions),
        "t2i": Rankings.of_similarity(table.T, small.captions, small.images),
    }


def as_lists(rankings: dict[str, Rankings], depth: int | None = None) -> list[dict[int, list[int]]]:
    return [
        dict(zip(rankings[d].queries.tolist(), rankings[d].items[:, :depth].tolist(), strict=True))
        for d in ("i2t", "t2i")
    ]


def their_figures(program: Metrics, lists: list) -> dict:
    return program.compute_all_metrics(*lists, target_metrics=[*RECALLS]) | program.compute_all_metrics(
        *lists, target_metrics=ECCV
    )


def our_figures(rankings: dict) -> dict:
    found = score(rankings)
    return {theirs: found[benchmark][metric] for (benchmark, metric), theirs in NAMES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["random", "perfect", "model-like"])
def test_every_figure_of_a_part_of_coco_is_theirs(small, kind):
    rankings = rankings_of(kind, small)
    ours = our_figures(rankings)
    for program in small.theirs.values():
        theirs = their_figures(program, as_lists(rankings))
        for name in NAMES.values():
            assert ours[name] == pytest.approx(theirs[name], abs=1e-12, rel=0), name
    if kind == "perfect":
        assert ours["eccv_r1"] == {"i2t": 1.0, "t2i": 1.0}


@pytest.mark.slow
def test_every_figure_of_the_whole_of_coco_is_theirs():
    """Lists of all matches of a query and 16 items of each fold: COCO 1k looks at the first ten of its own fold."""
    program, rng, lists = Metrics(), np.random.default_rng(7), {}
    folds = np.split(program.coco_ids, 5)
    galleries = {"i2t": folds, "t2i": [[program.coco_gts["t2i"][c][0] for c in fold[::5].tolist()] for fold in folds]}
    for side, gallery in galleries.items():
        others = np.concatenate([rng.permutation(fold)[:16] for fold in gallery])
        lists[side] = {}
        for query, matches in matches_of(program, side).items():
            items = np.union1d(others, list(matches))
            scores = rng.standard_normal(len(items)) + 1.5 * np.isin(items, list(matches))
            lists[side][query] = items[np.argsort(-scores)].tolist()
    theirs, ours = their_figures(program, [lists["i2t"], lists["t2i"]]), our_figures(lists)
    for name in NAMES.values():
        assert ours[name] == pytest.approx(theirs[name], abs=1e-12, rel=0), name
        assert min(theirs[name].values()) > 0.1


@pytest.mark.parametrize("kind", ["random", "perfect", "model-like"])
def test_r_precision_on_plausible_matches_is_their_pmrp(small, kind, tmp_path):
    rng = np.random.default_rng(3)
    shown = {image: sorted(set(rng.integers(0, 4, rng.integers(1, 3)).tolist())) for image in small.images.tolist()}
    owner = small.theirs["pypi"].coco_gts["t2i"]
    described = {caption: shown[owner[caption][0]] for caption in small.captions.tolist()}
    rankings = rankings_of(kind, small)
    sets = {"i2t": plausible_matches(shown, described), "t2i": plausible_matches(described, shown)}
    for direction, name in (("i2t", "pm_image_to_caption.json"), ("t2i", "pm_caption_to_image.json")):
        lists = np.split(sets[direction].items, sets[direction].starts[1:-1])
        matches = {int(q): one.tolist() for q, one in zip(sets[direction].queries, lists, strict=True)}
        (tmp_path / name).write_text(json.dumps(matches))
    for program in small.theirs.values():
        program.set_pm_gts(tmp_path / "pm_image_to_caption.json", tmp_path / "pm_caption_to_image.json")
    ours = {d: float(METRICS["R-Precision"](find(rankings[d], sets[d])).mean()) for d in sets}
    main = small.theirs["main"].compute_all_metrics(*as_lists(rankings), target_metrics=["pmrp"])
    assert main == {"pmrp": pytest.approx(ours, abs=1e-12, rel=0)}
    pypi = small.theirs["pypi"].compute_all_metrics(*as_lists(rankings), target_metrics=["pmrp"])
    # PyPI's file writes PMRP over the directions, so that nothing says which metric it is.
    assert pypi == pytest.approx(ours, abs=1e-12, rel=0)


def test_the_misspelt_name_hides_r_precision_in_the_file_of_pypi(small):
    lists = as_lists(rankings_of("model-like", small))
    assert small.theirs["pypi"].compute_all_metrics(*lists, target_metrics=["eccv_rprecision"]) == {}
    assert set(small.theirs["main"].compute_all_metrics(*lists, target_metrics=["eccv_rprecision"])) == {
        "eccv_rprecision"
    }


def test_truncated_rankings_break_one_program_and_get_no_score_from_the_other_but_bounds_from_ours(small):
    from counterpart_metrics import open_interval

    full = rankings_of("model-like", small)
    lists = as_lists(full, 5)
    with pytest.raises(IndexError):
        small.theirs["pypi"].compute_all_metrics(*lists, target_metrics=ECCV)
    with pytest.warns(UserWarning, match="truncated"):
        nothing = small.theirs["main"].compute_all_metrics(*lists, target_metrics=ECCV)
    assert nothing["eccv_map_at_r"] == {"i2t": -1, "t2i": -1}
    qrels = Qrels.of(small.theirs["pypi"].eccv_gts["i2t"])
    low, high = open_interval(METRICS["mAP@R"], find(Rankings.of(lists[0]), qrels))
    true = METRICS["mAP@R"](find(full["i2t"], qrels))
    assert (low <= true + 1e-12).all()
    assert (true <= high + 1e-12).all()
    assert low.min() >= 0
    assert low.mean() < true.mean() < high.mean()


@pytest.mark.slow
@pytest.mark.parametrize("zeta", [0, 1, 2])
def test_pmrp_without_sets_equals_pmrp_on_the_sets(zeta):
    from counterpart_metrics import ALL_METRICS

    rng = np.random.default_rng(zeta)
    shown = {int(i): rng.integers(0, 5, rng.integers(0, 4)).tolist() for i in rng.permutation(90)}
    described = {int(i): shown[int(i) % 90] for i in 100 + rng.permutation(200)}
    table = rng.standard_normal((90, 200))
    rankings = Rankings.of_similarity(table, np.arange(90), np.arange(100, 300))
    slow = ALL_METRICS["PMRP"](find(rankings, plausible_matches(shown, described, zeta)))
    np.testing.assert_array_equal(plausible_precision(rankings, shown, described)[zeta], slow)
    short = Rankings(rankings.queries, rankings.items[:, :7])
    slow = ALL_METRICS["PMRP"](find(short, plausible_matches(shown, described, zeta)))
    np.testing.assert_array_equal(plausible_precision(short, shown, described)[zeta], slow)


@pytest.mark.slow
@pytest.mark.shared
def test_plausible_captions_of_coco_show_what_the_image_shows(shared):
    from counterpart_metrics.named_benchmarks import of_gallery

    text = gzip.decompress((shared / "data/coco_test_categories.json.gz").read_bytes())
    images, captions = of_gallery({int(image): found for image, found in json.loads(text).items()}, "i2t")
    some = np.random.default_rng(1).permutation(np.array(sorted(images)))[:5].tolist()
    for zeta in (0, 1, 2):
        found = plausible_matches({image: images[image] for image in some}, captions, zeta)
        for image, items in zip(found.queries.tolist(), np.split(found.items, found.starts[1:-1]), strict=True):
            shown = set(images[image])
            assert items.tolist() == sorted(
                c for c, described in captions.items() if len(shown ^ set(described)) <= zeta
            )
