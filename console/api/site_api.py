"""The API of the site: the calls of every subject, their errors, and the description of all of them (OpenAPI)."""

from functools import cached_property
from importlib import import_module
from json import JSONDecodeError
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser

from console.api.problems import MEDIA_TYPE, Problem, ProblemAnswer, describe_errors, problem
from console.uploads import LARGEST_UPLOAD
from core.errors import CounterpartError
from core.extensions import API_CALLS
from core.site.version import software_version
from core.untrusted import read_json
from core.web.middleware import takes_uploads
from dataset.secret_controls import SecretControls

LARGE_BODIES = {"upload": LARGEST_UPLOAD}  # bytes, by the name of the address
PROBLEM = {
    "description": "The call was refused or failed; `detail` says why in a sentence.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}},
}
DESCRIPTION = """What researchers do on pages and with commands, for programs.

Send a token of the page *API* as `Authorization: Bearer cp_…`. Calls that change something need a header
`Idempotency-Key`; with the same key they may be repeated. Long work answers 202 with a job: read
`/jobs/{id}` until its state is `done`. Lists come in parts: send `next` as `after` until it is null. Money is decimal
text in US dollars. Errors are `application/problem+json`."""


class SiteApi(NinjaAPI):
    @property
    def urls(self) -> Any:
        """The addresses of the calls; some may have large bodies, and their bodies are no forms."""
        patterns, *names = super().urls
        pattern: Any
        for pattern in patterns:
            pattern.callback.takes_forms = False
            if pattern.name in LARGE_BODIES:
                takes_uploads(LARGE_BODIES[pattern.name])(pattern.callback)
        return (patterns, *names)

    def get_openapi_operation_id(self, operation: Any) -> str:
        return str(operation.view_func.__name__)

    def get_openapi_schema(self, **kwargs: Any) -> Any:
        """Describe the calls, and the errors that they share; made once by each process."""
        return self._description

    @cached_property
    def _description(self) -> Any:
        schema = super().get_openapi_schema()
        schema["components"]["schemas"]["ProblemAnswer"] = ProblemAnswer.model_json_schema()
        schema["components"]["responses"] = {"Problem": PROBLEM}
        return schema


def _problem(request: HttpRequest, error: Any) -> HttpResponse:
    match error:
        case Problem():
            return problem(error.status, error.detail, error.headers)
        case SecretControls():
            return problem(409, str(error))
        case CounterpartError():
            return problem(422, str(error))
        case Http404():
            return problem(404, "Not found. The row does not exist or has another name.")
        case ValidationError():
            return problem(422, describe_errors(error.errors))
    cause = error.__cause__
    if not isinstance(cause, ValueError):
        return problem(error.status_code, str(error))
    is_json = not isinstance(cause, JSONDecodeError | UnicodeDecodeError)
    return problem(422 if is_json else error.status_code, f"{error}: {str(cause).removesuffix('.')}.")


class BodyParser(Parser):
    """Reads the bodies of calls through the gate for untrusted text."""

    def parse_body(self, request: HttpRequest) -> Any:
        return read_json(request.body)


api = SiteApi(
    title="Counterpart",
    parser=BodyParser(),
    version=software_version(),
    description=DESCRIPTION,
    docs_url=None,
    urls_namespace="api",
    openapi_url="/openapi.json",
)
for kind in (Problem, CounterpartError, Http404, ValidationError, HttpError):
    api.add_exception_handler(kind, _problem)
for place in API_CALLS:
    api.add_router("", import_module(place).resources)
