from dataclasses import asdict
from typing import Any

from core.commands import ActCommand
from core.text import counted
from corpus.collection_parameters import SampleParameters
from corpus.models import Collection
from corpus.samples import sample_queries


class Command(ActCommand):
    step = "collection"
    help = (
        "Choose the queries of rounds: a fixed sample of the images and captions in a collection's gallery (all but "
        "the training splits). Only queries are sampled, never the gallery. Running it again with the same options "
        "changes nothing."
    )

    def act(self, *, parameters: SampleParameters, **options: Any) -> str | dict[str, Any]:
        wanted = asdict(parameters) | {"collection": Collection.objects.named(parameters.collection)}
        sample = sample_queries(**wanted)
        images = sample.images.count()
        captions = sample.captions.count()
        if not options["json"]:
            return f"{sample}: {counted(images, 'image')} and {counted(captions, 'caption')} of {sample.collection}."
        return {"sample": sample.name, "images": images, "captions": captions, "seed": sample.seed}
