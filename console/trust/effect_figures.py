"""What the page of a round's effect on the models shows: their scores at the last look, and the ranking at each."""

from core.errors import CounterpartError
from core.progress import Progress
from evaluation.live_effect import Effect, EffectParameters, measure_effect, saving_of
from hits.models import Round

Lines = list[dict[str, object]]

LOOKS = EffectParameters(looks=10)


def effect_figures(round: Round, *, progress: Progress) -> dict[str, object]:
    """Return the effect, or the ``trouble`` that there is none."""
    try:
        effect = measure_effect(round, LOOKS, progress=progress)
    except CounterpartError as error:
        return {"trouble": str(error)}
    return {"effect": effect, "saving": saving_of(effect), "rows": _rows(effect), "looks": _looks(effect)}


def _rows(effect: Effect) -> Lines:
    """Return a line for each model at the last look, best first."""
    if effect.last is None:
        return []
    look = effect.last.look
    return [
        {
            "model": effect.models[place],
            "score": look.scores[place],
            "low": look.low[place],
            "high": look.high[place],
            "unpooled": effect.unpooled[place],
        }
        for place in look.order.tolist()
    ]


def _looks(effect: Effect) -> Lines:
    return [
        {
            "hits": moment.look.hits,
            "at": moment.at,
            "tau": None if moment.tau != moment.tau else moment.tau,
            "is_settled": moment.is_settled,
            "ranking": effect.ranking(moment),
        }
        for moment in effect.moments
    ]
