from dataclasses import asdict
from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.collection_parameters import MatchesParameters
from corpus.matches import import_matches
from corpus.models import Collection


class Command(ActCommand):
    step = "collection"
    help = (
        "Add the pairs of PATH to the matches of a source in a collection. Every score is kept; thresholds "
        "come later. The form is recognised by content, plain or gzipped: a table (CSV, TSV, JSON lines, Parquet) with "
        "columns such as image and caption, and perhaps score and grade (1-4), as a version's pairs or CxC's CSV; "
        "qrels, of TREC or BEIR, whose label 0 is a pair that was judged and does not match; or "
        "JSON in one direction, {id: [ids]}, as eccv_image_to_caption.json. A folder may be an export. "
        "Existing matches do not change."
    )

    def act(self, progress: TerminalBar, *, parameters: MatchesParameters, **options: Any) -> str | dict[str, Any]:
        wanted = asdict(parameters) | {"collection": Collection.objects.named(parameters.collection)}
        summary = import_matches(**wanted, progress=progress)
        return asdict(summary) if options["json"] else str(summary)
