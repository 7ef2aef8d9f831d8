"""What a worker looks at: the HITs they may do, and what became of their work."""

from collections import Counter

from werkzeug import Response

from emulators.mturk.site.visits import Visit

DONE = {
    "submitted": "Submitted. The requester sees your answers now.",
    "returned": "Returned. The HIT is free for somebody else.",
    "requested": "Sent. Your standing is shown below.",
}


def groups(visit: Visit) -> Response:
    worker_id = visit.require_worker()
    with visit.world.looking() as state:
        types = {*state.qualification_types}
    mine = visit.world.dashboard(worker_id)["assignments"]
    return visit.page(
        "groups.html",
        here="groups",
        done=DONE.get(visit.request.args.get("done", ""), ""),
        held=[work for work in mine if work["status"] == "Accepted"],
        groups=visit.world.open_groups(worker_id),
        types=types,
    )


def dashboard(visit: Visit) -> Response:
    seen = visit.world.dashboard(visit.require_worker())
    counts = Counter(work["status"] for work in seen["assignments"])
    shown = {name: seen[name] for name in ("assignments", "bonuses", "messages", "earned", "bonus_total")}
    return visit.page("dashboard.html", here="dashboard", counts=counts, **shown)
