"""When a round's last answer set will come, as far as the arrivals so far say."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import scipy

from annotation.models import Assignment
from annotation.work.standing import ARRIVED, Standing
from core import clock
from hits.models import Round

RECENT = timedelta(days=3)  # older arrivals say little of the pace now
LEAST = 5  # arrivals that a forecast needs
WINDOWS = 12
SPREAD = 0.8


@dataclass(frozen=True)
class Forecast:
    """``middle`` is the median time of the last arrival; it is between ``low`` and ``high`` with a probability of 80%,
    if the pace stays what it was over the ``arrivals`` since ``since``."""

    low: datetime
    middle: datetime
    high: datetime
    arrivals: int
    since: datetime


def forecast_of(round: Round, standing: Standing, *, now: datetime | None = None) -> Forecast | None:
    """Return the forecast of an open round, with one query; None where it is paused, nothing more has to come, fewer
    than LEAST answer sets came in the last three days, or the end is more than a century away."""
    missing = standing.missing
    if not round.takes_workers or not missing:
        return None
    moment = now or clock.now()
    recent = Assignment.objects.filter(
        ARRIVED, hit__round=round, submitted_at__gt=moment - RECENT, submitted_at__lte=moment
    )
    times = np.array([at.timestamp() for at in recent.values_list("submitted_at", flat=True) if at])
    if len(times) < LEAST:
        return None
    start = float(times.min())
    # The observation starts with the first arrival, which therefore does not count for the pace.
    counts = np.histogram(times, WINDOWS, (start, max(moment.timestamp(), start + 1)))[0]
    counts[0] -= 1
    try:
        low, middle, high = (
            moment + timedelta(seconds=wait) for wait in waits(counts, moment.timestamp() - start, missing)
        )
    except OverflowError:
        return None
    return Forecast(low, middle, high, len(times), datetime.fromtimestamp(start, tz=moment.tzinfo))


def waits(counts: Sequence[int] | np.ndarray, seconds: float, missing: int) -> list[float]:
    """Return the seconds until ``missing`` more arrivals: the quantiles at 10%, 50% and 90%.

    Args:
        counts: (windows,) arrivals in equal parts of the ``seconds`` that were observed.

    For a Poisson process whose pace is known only by n arrivals in time T, the wait for m more is T·m/n times a
    variable of the F distribution with 2m and 2n degrees of freedom. People come in bursts: both numbers are divided
    by the dispersion of the counts (variance over mean, at least 1), as in quasi-Poisson regression.
    """
    table = np.asarray(counts, float)
    arrived = table.sum()
    burst = max(1.0, table.var(ddof=1) / table.mean())
    quantiles = scipy.special.fdtri(2 * missing / burst, 2 * arrived / burst, [(1 - SPREAD) / 2, 0.5, (1 + SPREAD) / 2])
    return [float(wait) for wait in seconds * missing / arrived * quantiles]
