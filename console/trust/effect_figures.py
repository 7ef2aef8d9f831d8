"""What the page of a round's effect on the models shows: their scores at the last look, and the ranking at each."""

from core.errors import CounterpartError
from core.progress import Progress
from evaluation.live_effect import EffectParameters, measure_effect
from hits.models import Round

LOOKS = EffectParameters(looks=10)


def effect_figures(round_: Round, *, progress: Progress) -> dict[str, object]:
    """Return the effect with a row for each model at the last look, or the ``trouble`` why it is missing."""
    try:
        effect = measure_effect(round_, LOOKS, progress=progress)
    except CounterpartError as error:
        return {"trouble": str(error)}
    unpooled = dict(zip(effect.models, effect.unpooled.tolist(), strict=True))
    scores = effect.last.scores if effect.last else []
    return {"effect": effect, "rows": [row | {"unpooled": unpooled[row["model"]]} for row in scores]}
