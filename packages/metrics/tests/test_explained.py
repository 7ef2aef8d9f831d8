"""Figures under every protocol: by hand on two images, against a slow reference, and which protocol a figure is of."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpart_metrics import CounterpartError, ExportedVersion, named_benchmarks, positives
from counterpart_metrics.__main__ import main
from counterpart_metrics.arrays import Rankings
from counterpart_metrics.benchmark_targets import coco_settings
from counterpart_metrics.explained import Wanted, explain, summary
from counterpart_metrics.protocols import ALL_ZERO, FIRST, LAST, OWN, ZERO, score_protocols, settings_of
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.ranking_files import stream_rankings

# Image 1 has two captions and image 2 two; 3 is ranked, but has no match. Scores of 1 are equal, so are those of 2.
LINES = "1 0 12 1 .9 x|1 0 10 2 .9 x|1 0 11 3 .2 x|2 0 10 1 .8 x|2 0 12 2 .5 x|2 0 13 3 .5 x|3 0 10 1 .9 x"
MATCHES = {"i2t": {"1": {"10": 1, "11": 1}, "2": {"12": 1, "13": 1}, "4": {"10": 0}}}


def explained(tmp_path, matches, lines, figure):
    path = tmp_path / "mine_i2t.run"
    path.write_text(lines.replace("|", "\n"))
    version = ExportedVersion("flickr", matches)
    ids = version.ids()
    found, _ = score_protocols("mine", stream_rankings(path, ids), settings_of("flickr", version.qrels(ids), ids))
    wanted = Wanted.of(figure)
    return explain(found, wanted), wanted


@pytest.mark.parametrize(
    ("figure", "answer"),
    [
        ("R@1=0", "R@1 of image to caption on flickr with any of two captions; equal scores in the order of the file"),
        ("R@1=50.0", "R@1 of image to caption on flickr with any of two captions; matches first among equal scores"),
        ("R@1 i2t=33.3%", "two captions; matches first among equal scores; queries without a match count 0"),
        ("R-Precision=50", "R-Precision of image to caption on flickr; ties do not matter."),
        ("100", "R@5 of image to caption on flickr with any of two captions; ties do not matter. 1 further protocol"),
        (
            "R@5=66%",
            "with any of two captions; queries without a match count 0; cut off, not rounded; ties do not matter.",
        ),
        ("0.375", "mAP@R of image to caption on flickr; matches first among equal scores; as a share of 1."),
        ("R@1=77", "No protocol gives 77. The nearest are 50.0 (27.0 off: R@1 of image to caption on flickr with any"),
    ],
)
def test_a_figure_is_explained_by_hand(tmp_path, figure, answer):
    assert answer in summary(*explained(tmp_path, MATCHES, LINES, figure))


def test_a_query_is_left_out_of_its_own_list(tmp_path):
    lines = "1 0 1 1 .9 x|1 0 2 2 .8 x|2 0 2 1 .9 x|2 0 1 2 .8 x"
    found, wanted = explained(tmp_path, {"i2t": {"1": {"2": 1}, "2": {"1": 1}}}, lines, "R@1=100")
    assert (found[0].gives, found[0].protocol.choices, summary(found, wanted)[-19:]) == (
        True,
        (OWN,),
        "ties do not matter.",
    )


@pytest.mark.parametrize(("text", "problem"), [("high", "is not a figure"), ("P@1=3", "Unknown word 'P@1'")])
def test_a_text_without_a_figure_is_refused(text, problem):
    with pytest.raises(CounterpartError, match=problem):
        Wanted.of(text)


def test_the_command_prints_the_protocols_and_the_same_as_json(tmp_path, capsys):
    (tmp_path / "v1_image_to_caption.json").write_text(json.dumps({"1": [10, 11], "2": [12]}))
    (tmp_path / "mine.json").write_text(json.dumps({"i2t": {"1": [10, 12, 11], "2": [10, 12]}}))
    main([str(tmp_path), str(tmp_path / "mine.json"), "--explain", "50.0"])
    first, _, head, best, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("50.0 is R@1 of image to caption on v1 with any of its matches.")
    assert (head.split(), best.split()[:4]) == (["figure", "distance", "protocol"], ["=", "50.00", "0.00", "R@1"])
    main([str(tmp_path), str(tmp_path / "mine.json"), "--explain", "50.0", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["answer"], found["protocols"][0]["value"], found["protocols"][0]["gives"]) == (first, 0.5, True)


def slow(lists, matches, asked, metric, each, order, count):
    """One figure of one direction: sorted, cut and averaged query by query."""
    values = []
    for query, right in matches.items():
        ranked = list(enumerate(lists[query]))
        first = {"": lambda item: 0, FIRST: lambda item, r=right: item not in r, LAST: lambda item, r=right: item in r}
        key = first[order]
        items = [item for _, (item, _) in sorted(ranked, key=lambda one: (-one[1][1], key(one[1][0]), one[0]))]
        hits = [item in right for item in items]
        if metric.startswith("R@"):
            found = sum(hits[: int(metric[2:])])
            values.append(found / len(right) if each else float(found > 0))
        elif metric == "R-Precision":
            values.append(sum(hits[: len(right)]) / len(right))
        else:
            values.append(
                sum(sum(hits[: k + 1]) / (k + 1) for k in range(len(right)) if hits[k : k + 1] == [True]) / len(right)
            )
    return sum(values) / {"": len(values), ZERO: max(len(values), asked), ALL_ZERO: max(len(values), len(lists))}[count]


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_every_figure_is_that_of_a_slow_reference(seed):
    rng = np.random.default_rng(seed)
    sides = {"i2t": (range(4), range(10, 19)), "t2i": (range(10, 19), range(4))}
    lists, matches, judged = {}, {}, {}
    for side, (queries, items) in sides.items():
        lists[side] = {
            query: [
                (int(item), score)
                for item, score in zip(
                    rng.permutation(items), sorted(rng.integers(0, 4, len(items)))[::-1], strict=True
                )
            ]
            for query in queries
        }
        judged[side] = {
            q: {int(i): float(rng.random() < 0.4) for i in rng.permutation(items)[:5]}
            for q in queries
            if rng.random() < 0.8
        }
        matches[side] = {q: {i for i, gain in of.items() if gain} for q, of in judged[side].items() if any(of.values())}
    if not all(matches.values()):
        return
    version = ExportedVersion(
        "v1", {d: {str(q): {str(i): g for i, g in of.items()} for q, of in one.items()} for d, one in judged.items()}
    )
    ids = version.ids()
    blocks = []
    for direction, one in lists.items():
        asking, listed = ids.of(direction)
        queries = asking.find(np.array(list(map(str, one)), object))
        items = np.array([listed.find(np.array([str(i) for i, _ in row], object)) for row in one.values()])
        scores = np.array([[s for _, s in row] for row in one.values()], float)
        places = np.argsort(queries)
        blocks.append(Block(direction, Rankings(queries[places].astype(np.int64), items[places], scores[places])))
    found, _ = score_protocols("mine", blocks, settings_of("v1", version.qrels(ids), ids)[:1])
    by = {(one.metric, one.part, one.matches.startswith("each"), one.choices): one.value for one in found}
    for metric, each, order, count in product(
        ("R@1", "R@5", "R-Precision", "mAP@R"), (False, True), ("", FIRST, LAST), ("", ZERO, ALL_ZERO)
    ):
        if each and not metric.startswith("R@"):
            continue
        both = {d: slow(lists[d], matches[d], len(judged[d]), metric, each, order, count) for d in sides}
        both["average"] = sum(both.values()) / 2
        choices = tuple(filter(None, (order, count)))
        for part, value in both.items():
            single = each and not any("each" in one.matches for one in found if one.part == part)
            assert by[metric, part, each and not single, choices] == pytest.approx(value)


@pytest.mark.slow
def test_the_figures_of_coco_are_those_of_the_benchmarks():
    rng, blocks = np.random.default_rng(0), []
    for side, other in (("i2t", "t2i"), ("t2i", "i2t")):
        original, items = positives("coco-5k")[side], positives("coco-5k")[other].queries
        lists = rng.choice(items, (len(original.queries), 60))
        lists[:, 3] = np.where(rng.random(len(lists)) < 0.6, original.items[original.starts[:-1]], lists[:, 3])
        rows = {
            query: list(dict.fromkeys(row))
            for query, row in zip(original.queries.tolist(), lists.tolist(), strict=True)
        }
        blocks.append(Block(side, Rankings.of(rows)))
    found, _ = score_protocols("mine", blocks, coco_settings(None, ()))
    by = {(one.on, one.metric, one.part): one.value for one in found if not one.choices and "each" not in one.matches}
    said = {"coco-5k": "COCO 5K", "coco-1k": "COCO 1K (five folds)", "cxc": "CxC", "eccv": "ECCV Caption"}
    for name, metrics in named_benchmarks.score({block.direction: block.rankings for block in blocks}).items():
        for metric, sides in metrics.items():
            for direction, value in sides.items():
                assert by[said[name], metric, direction] == pytest.approx(value)
