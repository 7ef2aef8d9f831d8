"""The guarded scores of a round that asks likely matches, which are kept with its versions."""

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent
from counterpart_statistics.auditing.model_guards import model_guards
from counterpart_statistics.auditing.model_scores import model_estimates
from dataset.models import Version
from dataset.versions.version_files import keep_guards, kept_guards
from evaluation.analyses import plain, text_table
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Round
from mitl.models import Direction


def rounds_to_guard(version: Version) -> list[Round]:
    """Return the rounds of a version that asked likely matches, while nothing is kept of their guard."""
    greedy = version.rounds.filter(top_ups__opened__isnull=False).select_related("pool__collection", "pool__sample")
    rounds = list(greedy.distinct())
    return rounds if rounds and kept_guards(version) is None else []


def guard_scores(version: Version, *, progress: Progress = silent) -> None:
    """Keep with a version what the audits of its rounds with likely matches say of the scores on it: of mAP@R, with the
    matches that the version merges. Once, as the rounds may change afterwards."""
    if rounds := rounds_to_guard(version):
        merge = version.manifest["policies"]["merge"]
        keep_guards(version, [_guarded(round, merge, progress) for round in rounds])


def guard_table(version: Version) -> str:
    """Return the guarded scores of a version, as ``evaluate`` prints them; empty without any."""
    rows = [[round["round"], row] for round in kept_guards(version) or [] for row in round["rows"]]
    if not rows:
        return ""
    cells = [
        [
            str(row["model"]),
            Direction(row["direction"]).label,
            *(f"{100 * row[name]:.1f}" for name in ("counted", "guarded", "low", "high")),
            "" if row["weight"] else "as counted",
        ]
        for _, row in rows
    ]
    table = text_table(["model", "direction", "counted", "guarded", "low", "high", ""], cells, left=2)
    rounds = some_of(sorted({round for round, _ in rows}))
    return (
        f"mAP@R of the pool of {rounds}, counted and guarded, with the 95% interval of what judging all of these "
        f"queries would say. As counted: the audit cannot distinguish it from the whole round's.\n{table}"
    )


def _guarded(round: Round, merge: str, progress: Progress) -> dict[str, object]:
    try:
        rows = [
            plain(guard.row())
            for whole in whole_queries(round, merge=merge, progress=progress)
            for guard in model_guards(whole, model_estimates(whole, ["mAP@R"]))
        ]
    except CounterpartError as error:
        return {"round": round.name, "rows": [], "trouble": str(error)}
    return {"round": round.name, "rows": rows, "trouble": ""}
