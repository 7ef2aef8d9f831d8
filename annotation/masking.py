"""Put pseudonyms where a platform's words name workers by its own ids, before people read them."""

import re
from collections.abc import Sequence

from annotation.models import WorkerIdentity

WORD = re.compile(r"[A-Za-z0-9]{4,64}")


def mask_workers(texts: Sequence[str]) -> list[str]:
    """Return the texts with every known platform id of a worker replaced by their pseudonym; one query for all."""
    words = {word for text in texts for word in WORD.findall(text)}
    known = WorkerIdentity.objects.filter(external_id__in=words) if words else WorkerIdentity.objects.none()
    names = {one.external_id: one.worker.pseudonym for one in known.select_related("worker")}
    return [WORD.sub(lambda found: names.get(found[0], found[0]), text) for text in texts]
