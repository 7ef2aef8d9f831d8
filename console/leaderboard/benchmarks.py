"""The named benchmarks: measuring rankings or a search on them, and the figures."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from console.leaderboard.benchmark_boards import measure_rankings, stored_boards
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.uploads import LARGEST_UPLOAD, start_with_uploads
from console.versions.forms import BenchmarkForm
from core.models import Job
from core.web.middleware import takes_uploads


@takes_uploads(2 * LARGEST_UPLOAD)
@researchers_only.fills
def benchmarks(request: StaffRequest) -> HttpResponse:
    """Upload rankings or choose a search, and the benchmarks; a job measures them. Lists what was measured before."""
    form = BenchmarkForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        title = f"Measure on {', '.join(form.cleaned_data['benchmarks'])}"
        task = measure_rankings.name
        return redirect("job", start_with_uploads(title, task, form.params(), form.uploads(), by=request.user).pk)
    measured = Job.objects.filter(task=measure_rankings.name, state=Job.State.DONE)
    context = {"form": form, "rows": page_of(request, measured)}
    return render(request, "console/leaderboard/benchmarks.html", context, status=422 if form.errors else 200)


@members_only.reads
def benchmark(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """The figures that a job has measured."""
    found = get_object_or_404(Job.objects.select_related("created_by"), pk=job_id, task=measure_rankings.name)
    boards = stored_boards(found)
    notes = next(iter(boards.values())).rows[0].notes if boards else []
    return render(request, "console/leaderboard/benchmark.html", {"job": found, "boards": boards, "notes": notes})
