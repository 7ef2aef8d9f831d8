import re
from math import nan
from xml.etree import ElementTree

import numpy as np
import pytest
from django.template.loader import render_to_string

from console.charts.inline_bars import part_chart
from mitl.charts.bars import bar_chart, interval_chart
from mitl.charts.drawing import Chart, write_chart
from mitl.charts.heat_maps import heat_map
from mitl.charts.lines import tail_chart
from mitl.charts.scales import linear, logarithmic, spread

COUNTS = {"image → captions": {"one": np.array([0, 1, 1, 5]), "two": np.array([3, 0, 0, 0])}}
MATRIX = np.array([[1, 0.25], [np.nan, 1]])


def words_in(svg: bytes) -> list[str]:
    return [text for text in ElementTree.fromstring(svg).itertext() if text.strip()]


def test_a_tail_counts_the_items_found_so_often_or_more():
    (panel,) = tail_chart("Hubs", "", COUNTS, "N", "items").panels
    assert panel.label == "image → captions; at least 1: 3; at least 5: 1; at least 3: 1"


def test_a_heat_map_writes_its_figures_but_not_the_diagonal_or_what_is_undefined(tmp_path):
    spec = Chart("Alike", "", [heat_map("tau", ["one", "two"], MATRIX, form=".2f", scale=(-1, 1))])
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
    chart = bar_chart("Levels", "", {"one": shares}, x="percent", parts={"yes": "level-1", "no": "level-4"})
    values = ("rank 10, yes: 50", "rank 10, no: 50", "rank 9, yes: 50", "rank 9, no: 50")
    assert chart.panels[0].label == "; ".join(["one", *values])
    write_chart(chart, tmp_path / "bars.svg")
    assert {"Levels", "one", "rank 9", "yes", "no", "percent"} <= set(words_in((tmp_path / "bars.svg").read_bytes()))


def test_an_interval_is_a_line_around_its_dot_and_a_truth_has_its_place():
    rows = [{"name": "a", "value": 0.5, "low": 0.4, "high": 0.6, "truth": 0.45}]
    (panel,) = interval_chart("", "", {"one": [*rows, {"name": "b", "value": 0.5, "low": nan, "high": nan}]}, "").panels
    assert panel.label == "one; known: 0.45; a: 0.5 0.4–0.6; b: 0.5"
    assert 'x1="0%" x2="100%" y1="13" y2="13"' in panel.area  # the interval is the whole scale


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (linear([1, 2], zero=False, whole=True, tight=True), ["1", "2"]),
        (linear([50.3, 36.7]), ["0", "10", "20", "30", "40", "50", "60"]),
        (linear([0.42, 0.58], zero=False), ["0.4", "0.45", "0.5", "0.55", "0.6"]),
        (linear([]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (logarithmic([30]), ["1", "2", "5", "10", "20"]),
        (linear([0, 25_000]), ["0", "5,000", "10k", "15k", "20k", "25k"]),
    ],
)
def test_ticks_are_round_numbers(scale, ticks):
    assert [label for _, label in scale.ticks] == ticks
    assert all(0 <= scale.share(value) <= 1 for value, _ in scale.ticks)


def test_names_at_the_ends_of_lines_do_not_cover_each_other():
    assert spread([50, 52, 10, 190, 195], 14, 190) == [50, 64, 10, 176, 190]


def test_a_chart_on_a_page_has_no_fixed_colours_and_escapes_names():
    html = render_to_string("console/charts/_plot.html", {"chart": part_chart("<a>", [("good", '"done" & <b>', 3)])})
    assert re.findall(r"#[0-9a-f]{6}|style=|<b>|<a>", html) == []
    assert 'aria-label="&lt;a&gt;; &quot;done&quot; &amp; &lt;b&gt;: 3 (100%)"' in html


def test_a_bar_of_nothing_is_not_drawn():
    assert part_chart("Seats", [("good", "done", 0)]) is None
