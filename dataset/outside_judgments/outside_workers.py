"""Pseudonyms of the people in other tools' files: their names and addresses are not stored."""

from collections.abc import Iterable

from annotation.models import WorkerIdentity
from core.signatures import signatures
from hits.models import Round

CHANNEL = "import"
_LENGTH = 24  # hexadecimal digits
_BATCH = 500


def pseudonyms_of(names: Iterable[str], *, tool: str, round: Round) -> dict[str, str]:
    """Return name → pseudonym: a keyed digest, the same in each import into the round, also after a change of the
    site's key, and another in each round and for each tool."""
    made = {
        name: [f"{tool}-{digest}" for digest in signatures("dataset.outside_workers", text, length=_LENGTH)]
        for name, text in ((name, f"{round.name}/{tool}/{name}") for name in names)
    }
    wanted = [pseudonym for pseudonyms in made.values() for pseudonym in pseudonyms]
    known = set[str]()
    for start in range(0, len(wanted), _BATCH):
        some = WorkerIdentity.objects.filter(channel=CHANNEL, external_id__in=wanted[start : start + _BATCH])
        known.update(some.values_list("external_id", flat=True))
    return {name: next((one for one in given if one in known), given[0]) for name, given in made.items()}
