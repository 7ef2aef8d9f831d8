"""Style sheets take every size, weight, distance and colour from tokens.css, so that pages share one scale."""

import re

import pytest
from django.conf import settings

from mitl.charts.drawing import COLOURS

TOKENS = (settings.BASE_DIR / "static/console/tokens.css").read_text()
SHEETS = [path for path in settings.BASE_DIR.glob("static/*/*.css") if path.name != "tokens.css"]
OWN_VALUES = {
    "a size of type": r"font-size: (?!var\(--text-|inherit)[^;]+",
    "a font": r"font: (?!inherit)(?!(var\(--bold\) )?var\(--text-)[^;]+",
    "a weight": r"font-weight: (?!400|var\()[^;]+",
    "a height of lines": r"line-height: (?!1;|var\()[^;]+",
    "a distance": r"\b(?:gap|margin|padding)[a-z-]*: [^;]*\d(?:rem|px)\b[^;]*",
    "a colour": r"#[0-9a-f]{3,8}\b(?=[;,)])|\b(?:rgb|hsl|oklch)\(",
}
NOT_DISTANCES = re.compile(r"max\(0px, [^)]*\)+")


@pytest.mark.parametrize("what", OWN_VALUES)
def test_no_sheet_has_a_value_of_its_own(what):
    own = re.compile(OWN_VALUES[what])
    found = {path.name: re.sub(NOT_DISTANCES, "", path.read_text()) for path in SHEETS}
    assert {name: [one[0] for one in own.finditer(text)] for name, text in found.items() if own.search(text)} == {}


def test_sheets_and_charts_use_every_token_and_no_other_name():
    everything = "\n".join([TOKENS, *(path.read_text() for path in SHEETS)])
    used, known = (set(re.findall(pattern, everything)) for pattern in (r"var\((--[\w-]+)", r"(--[\w-]+):"))
    assert used | {f"--{name}" for name in COLOURS} == known
