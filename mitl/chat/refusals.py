"""What an endpoint's refusal means: whether another try may help, and what a person should do."""

import json
import time
from email.utils import parsedate_to_datetime

import httpx

from core.errors import CounterpartError
from mitl.chat.service import Service

PASSING = (408, 409, 425, 429)  # and all from 500
NO_MONEY = "insufficient_quota"
LONGEST_WAIT = 300.0  # seconds that a search waits because it is told to
MOST_SHOWN = 160  # characters of what the endpoint says


class PassingError(CounterpartError):
    """Another try may help: not before ``wait`` seconds, where the endpoint says so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class NoLogprobsError(Exception):
    """The endpoint takes no questions with log-probabilities."""


def refusal(service: Service, response: httpx.Response, *, logprobs: bool) -> Exception:
    """Return what to raise for an answer of another status than 200; ``logprobs`` is whether they were asked for."""
    status, said = response.status_code, said_by(service, response.text)
    if logprobs and status in (400, 422) and "logprob" in response.text:
        return NoLogprobsError()
    if status in (401, 403):
        return CounterpartError(f"{service!r} refuses ({status}{said}); {_about_the_key(service)}.")
    if status == 404:
        return CounterpartError(f"{service.url} knows no model {service.model!r} ({status}{said}); check both names.")
    if response.is_redirect:
        return CounterpartError(
            f"{service.url} moves questions to another address ({status}), and the key stays here; name that address as"
            " endpoint yourself."
        )
    if NO_MONEY in response.text:
        return CounterpartError(f"{service!r} has no credit left ({status}{said}); pay there, then go on.")
    if status in PASSING or status >= 500:
        return _passing(service, response, said)
    return CounterpartError(f"{service!r} takes no such question ({status}{said}); check the model and the options.")


def said_by(service: Service, text: str) -> str:
    """Return what an endpoint says of an error as ``: text``, on one line, short and without the key; or nothing."""
    try:
        error = json.loads(text)["error"]
        said = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, LookupError, TypeError):
        said = text if "<" not in text else ""
    line = " ".join(said.split())
    line = service.without_key(line)
    line = line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}…"
    return f": {line.rstrip('.')}" if line else ""


def _about_the_key(service: Service) -> str:
    if not service.key_variable:
        return "it may want a key: put it into an environment variable and add the annotator with key_variable=NAME"
    return f"check the key in the environment variable {service.key_variable}"


def _passing(service: Service, response: httpx.Response, said: str) -> CounterpartError:
    wait = _retry_after(response.headers.get("retry-after", ""))
    if wait is not None and wait > LONGEST_WAIT:
        return CounterpartError(
            f"{service!r} asks to be left alone for {wait:,.0f} s ({response.status_code}{said}); run the same again"
            " then."
        )
    return PassingError(f"{service!r} cannot answer now ({response.status_code}{said})", wait)


def _retry_after(header: str) -> float | None:
    """Return the seconds that a Retry-After header asks for, given as a number or as a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
