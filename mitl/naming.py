"""Look up by name the rows that commands and pages speak of, with a helpful answer where there is none."""

from collections.abc import Sequence

from core.errors import CounterpartError, some_of
from core.naming import find_named
from mitl.models import Annotator, Pool


def find_annotators(names: Sequence[str]) -> list[Annotator]:
    """Return the annotators in the order named. Raises CounterpartError for unknown and doubled names, or none."""
    if not names:
        raise CounterpartError("No annotator is named; name at least one.")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise CounterpartError(f"{len(doubled)} annotators are named more than once: {some_of(doubled)}.")
    there = {annotator.name: annotator for annotator in Annotator.objects.filter(name__in=names)}
    unknown = [name for name in names if name not in there]
    if unknown:
        known = list(Annotator.objects.values_list("name", flat=True))
        raise CounterpartError(
            f"{len(unknown)} annotators are unknown: {some_of(unknown)}; there are {some_of(known) or 'none yet'}."
            " Make one with add_annotator."
        )
    return [there[name] for name in names]


def find_pool(name: str) -> Pool:
    """Return the pool of this name. Raises CounterpartError that lists the ones there are."""
    return find_named(Pool.objects.all(), name, made_by="the command pool")
