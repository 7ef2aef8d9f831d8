"""Figures of certainty, for tests of what people read of them."""

from typing import Any

FIGURES: dict[str, Any] = {
    **{"verdicts": 480, "right": 0.925, "right_low": 0.846, "right_high": 0.963},
    **{"expected_wrong": 36.2, "wrong_low": 18, "wrong_high": 74},
    **{"mean": 0.8, "alike": 5.0, "carry": 0.5, "easier": [0.1, -0.1], "shared": 0.15, "gap": 0.022, "prior": 0.3},
    **{"levels": [0.0] * 4, "sets": 39, "uncounted": 9, "workers": 20, "controls": 64, "control_answers": 78},
    **{"several": 0, "reviewed": 0, "reviewed_right": 0, "silent": ""},
}
"""Those of a round of lone votes whose numbers may be said."""
REPEATED = FIGURES | {"several": 60}
"""Those of a round in which every pair has a percentage."""
SILENT = FIGURES | {
    **dict.fromkeys(("right", "right_low", "right_high", "expected_wrong", "wrong_low", "wrong_high")),
    **{"controls": 12, "silent": "Too few controls to say (12 different ones; 30 are needed)."},
}
