import json
from pathlib import Path
from typing import Any

from core.commands import ActCommand, argument
from core.errors import CounterpartError
from core.files.stored_files import check_new_file, whole_file
from mitl.models import Retrieval
from mitl.search.gallery import rankings_of


class Command(ActCommand):
    step = "annotators"
    help = (
        "Write the lists of a search as a rankings file: the collection's ids, best first, as "
        '{"i2t": {image: [captions]}, "t2i": {caption: [images]}}. evaluate --rankings and annotators of kind files '
        "read it. list retrievals shows the numbers of the searches."
    )
    arguments = (
        argument("retrieval", type=int, metavar="RETRIEVAL", help="number of the search"),
        argument("file", type=Path, metavar="FILE", help="file to write, .json; it must not exist"),
    )

    def act(self, **options: Any) -> dict[str, Any]:
        number = options["retrieval"]
        path = options["file"]
        check_new_file(path, ".json", "Rankings")
        retrieval = Retrieval.objects.select_related("annotator", "collection").filter(pk=number).first()
        if retrieval is None:
            raise CounterpartError(f"Unknown search {number}; list retrievals shows the existing ones.")
        rankings = rankings_of(retrieval)
        with whole_file(path) as part:
            part.write_text(json.dumps(rankings))
        lists = {f"{direction}_lists": len(found) for direction, found in rankings.items()}
        return {"file": str(path), "annotator": retrieval.annotator.name, "depth": retrieval.depth, **lists}
