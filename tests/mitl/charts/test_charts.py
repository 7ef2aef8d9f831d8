from xml.etree import ElementTree

import numpy as np
import pytest

from mitl.charts.bars import bar_chart
from mitl.charts.drawing import write_chart
from mitl.charts.heat_maps import heat_map, heat_maps
from mitl.charts.lines import line_chart, tail_chart

COUNTS = {"image → captions": {"one": np.array([0, 1, 1, 5]), "two": np.array([3, 0, 0, 0])}}
MATRIX = np.array([[1, 0.25], [np.nan, 1]])


def words_in(svg: bytes) -> list[str]:
    return [text for text in ElementTree.fromstring(svg).itertext() if text.strip()]


def test_a_tail_counts_the_items_found_so_often_or_more():
    panel = tail_chart("Hubs", "", COUNTS, "N", "items")["hconcat"][0]
    assert panel["data"]["values"] == [
        {"annotator": "one", "count": 1, "items": 3},
        {"annotator": "one", "count": 5, "items": 1},
        {"annotator": "two", "count": 3, "items": 1},
    ]
    assert panel["encoding"]["x"]["scale"]["type"] == panel["encoding"]["y"]["scale"]["type"] == "log"


def test_a_heat_map_writes_its_figures_but_not_the_diagonal_or_what_is_undefined(tmp_path):
    spec = heat_maps("Alike", "", [[heat_map("tau", ["one", "two"], MATRIX, form=".2f", scale=(-1, 1))]])
    write_chart(spec, tmp_path / "maps.svg")
    words = words_in((tmp_path / "maps.svg").read_bytes())
    assert "0.25" in words
    assert "1.00" not in words
    assert not any("NaN" in word for word in words)


@pytest.mark.parametrize(("suffix", "begins"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_a_chart_is_a_file_of_the_form_in_its_name(tmp_path, suffix, begins):
    write_chart(tail_chart("Hubs", "", COUNTS, "N", "items"), tmp_path / f"hubs{suffix}")
    assert (tmp_path / f"hubs{suffix}").read_bytes().startswith(begins)


def test_the_same_chart_is_the_same_file(tmp_path):
    for name in ("one.svg", "two.svg"):
        write_chart(tail_chart("Hubs", "", COUNTS, "N", "items"), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_bars_are_in_the_order_given_with_their_parts(tmp_path):
    shares = [{"name": name, "part": part, "value": 50} for name in ("rank 10", "rank 9") for part in ("yes", "no")]
    spec = bar_chart("Levels", "", {"one": shares}, x="percent", parts={"yes": "#000000", "no": "#ffffff"})
    panel = spec["concat"][0]
    assert panel["encoding"]["y"]["scale"]["domain"] == ["rank 10", "rank 9"]
    assert [row["place"] for row in panel["data"]["values"]] == [0, 1, 0, 1]
    write_chart(spec, tmp_path / "bars.svg")
    assert {"Levels", "one", "rank 9", "yes", "no", "percent"} <= set(words_in((tmp_path / "bars.svg").read_bytes()))


def test_the_ticks_of_a_few_whole_numbers_are_these_numbers(tmp_path):
    line = [{"line": "bias", "x": x, "y": y} for x, y in ((1, 50.3), (2, 36.7))]
    write_chart(line_chart("Bias", "", {"R@1": line}, "annotators", "points"), tmp_path / "bias.svg")
    words = words_in((tmp_path / "bias.svg").read_bytes())
    assert [word for word in words if word.isdecimal()] == ["1", "2", "0", "10", "20", "30", "40", "50", "60"]
