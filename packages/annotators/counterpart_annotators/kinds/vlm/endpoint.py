"""Send questions to a chat endpoint: in parallel, no faster than allowed, with retries.

Every answer is in the ledger before anything else is done with it.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Event
from time import perf_counter

import httpx
import tenacity
from tenacity import RetryCallState, Retrying

from counterpart_annotators.kinds.vlm.questions import InvalidAnswerError, JudgeAnswer, read_answer, request_body
from counterpart_annotators.kinds.vlm.service import Pacer, Service
from counterpart_annotators.kinds.vlm.spending import Ledger
from counterpart_metrics.errors import CounterpartError, counted
from counterpart_metrics.json_gate import read_json

TEMPORARY = (408, 409, 425, 429)  # and all statuses from 500
NO_MONEY = "insufficient_quota"
LONGEST_WAIT = 300.0  # seconds that a search waits at an endpoint's request
MOST_SHOWN = 160  # characters of an endpoint's error in a message


class TemporaryError(CounterpartError):
    """A retry may help, after ``wait`` seconds if the endpoint says so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class NoLogprobsError(Exception):
    """The endpoint rejects requests for log-probabilities."""


def refusal(service: Service, response: httpx.Response, *, logprobs: bool) -> Exception:
    """Return the error for a response with another status than 200; ``logprobs``: they were requested."""
    status = response.status_code
    said = said_by(service, response.text)
    if logprobs and status in (400, 422) and "logprob" in response.text:
        return NoLogprobsError()
    if status in (401, 403):
        return CounterpartError(f"{service!r} refuses access ({status}{said}); {_about_the_key(service)}.")
    if status == 404:
        return CounterpartError(f"{service.url} knows no model {service.model!r} ({status}{said}); check both names.")
    if response.is_redirect:
        return CounterpartError(
            f"{service.url} redirects to another address ({status}), to which the key is not sent; pass that address as"
            " endpoint yourself."
        )
    if NO_MONEY in response.text:
        return CounterpartError(
            f"{service!r} has no credit left ({status}{said}); add credit, then run the same again."
        )
    if status in TEMPORARY or status >= 500:
        return _temporary(service, response, said)
    return CounterpartError(f"{service!r} rejects the request ({status}{said}); check the model and the options.")


def said_by(service: Service, text: str) -> str:
    """Return an endpoint's error message as ``: text``, on one line, short and without the key; or nothing."""
    try:
        error = read_json(text)["error"]
        said = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, LookupError, TypeError):
        said = text if "<" not in text else ""
    line = " ".join(said.split())
    line = service.without_key(line)
    line = line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}…"
    return f": {line.rstrip('.')}" if line else ""


def _about_the_key(service: Service) -> str:
    if not service.key_variable:
        return "it may need a key: set an environment variable and add the annotator with key_variable=NAME"
    return f"check the key in the environment variable {service.key_variable}"


def _temporary(service: Service, response: httpx.Response, said: str) -> CounterpartError:
    wait = _retry_after(response.headers.get("retry-after", ""))
    if wait is not None and wait > LONGEST_WAIT:
        return CounterpartError(
            f"{service!r} asks to wait {wait:,.0f} s ({response.status_code}{said}); run the same again then."
        )
    return TemporaryError(f"{service!r} cannot answer now ({response.status_code}{said})", wait)


def _retry_after(header: str) -> float | None:
    """Return the seconds of a Retry-After header, which is a number or a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


MOST_INVALID = 2  # invalid answers to one question
FIRST_WAIT = 1.0  # seconds before the first retry, if the endpoint names none
MOST_WAIT = 60.0  # seconds before a later one


@dataclass(frozen=True)
class JudgeQuestion:
    """A pair to be judged: the digest of everything that decides the answer, the picture as a JPEG, the caption."""

    digest: str
    jpeg: bytes
    caption: str


class Asker:
    """Asks one service. ``sleep`` replaces the waiting between retries, in tests."""

    def __init__(self, service: Service, ledger: Ledger, sleep: Callable[[float], None] | None = None) -> None:
        self._service = service
        self._ledger = ledger
        self._stop = Event()
        self._sleep = sleep or tenacity.sleep_using_event(self._stop)
        self._pacer = Pacer(service.per_minute, sleep=self._sleep)
        self._logprobs = True
        headers = {"Authorization": f"Bearer {service.key}"} if service.key else {}
        self._http = httpx.Client(headers=headers, timeout=service.timeout)

    def ask(self, questions: Iterable[JudgeQuestion]) -> dict[str, JudgeAnswer]:
        """Return the answers by the questions' digests; each question is asked once, several in parallel.

        Raises CounterpartError when a ceiling is reached, and for a service that refuses, or does not answer or gives
        invalid answers after all retries. Answers received before are in the ledger.
        """
        self._stop.clear()
        with ThreadPoolExecutor(self._service.parallel) as pool:
            asked = {pool.submit(self._answer, question): question.digest for question in questions}
            try:
                return {asked[future]: future.result() for future in as_completed(asked)}
            except BaseException:
                self._stop.set()
                _cancel(asked)
                raise

    def _answer(self, question: JudgeQuestion) -> JudgeAnswer:
        tries = Retrying(
            retry=tenacity.retry_if_exception_type(TemporaryError),
            stop=tenacity.stop_after_attempt(self._service.attempts) | tenacity.stop_when_event_set(self._stop),
            wait=_wait,
            sleep=self._sleep,
            reraise=True,
        )
        invalid: list[str] = []
        try:
            return tries(self._try, question, invalid)
        except TemporaryError as error:
            raise CounterpartError(
                f"{error}, after {counted(self._service.attempts, 'attempt')}; run the same again later: answers are "
                "kept."
            ) from error

    def _try(self, question: JudgeQuestion, invalid: list[str]) -> JudgeAnswer:
        self._pacer.wait()
        while True:
            try:
                return self._paid(question)
            except NoLogprobsError:
                self._logprobs = False
            except InvalidAnswerError as error:
                invalid.append(self._service.without_key(str(error)))
                if len(invalid) >= MOST_INVALID:
                    raise CounterpartError(
                        f"{self._service!r} answered {len(invalid)} times without a level, the last time with"
                        f" {invalid[-1]}; is it a model that reads pictures?"
                    ) from error

    def _paid(self, question: JudgeQuestion) -> JudgeAnswer:
        """Send a question once. Its cost is in the ledger whatever the result."""
        service = self._service
        logprobs = self._logprobs
        if self._stop.is_set():
            raise TemporaryError("another question failed")
        most = service.prices.most(question.caption)
        request = self._ledger.reserve(question.digest, service.purse, most, service.ceiling)
        started = perf_counter()
        response = self._sent(question, request, logprobs=logprobs)
        seconds = perf_counter() - started
        if response.status_code != httpx.codes.OK:
            self._ledger.release(request)
            raise refusal(service, response, logprobs=logprobs)
        try:
            answer = read_answer(response.text)
        except InvalidAnswerError as error:
            self._ledger.settle(request, None, *service.prices.of(error.usage, question.caption), seconds)
            raise
        self._ledger.settle(request, answer, *service.prices.of(answer.usage, question.caption), seconds)
        return answer

    def _sent(self, question: JudgeQuestion, request: int, *, logprobs: bool) -> httpx.Response:
        """Return the response. A request that the endpoint cannot have received is removed from the ledger; one without
        an answer stays there with the most that it can cost."""
        service = self._service
        body = request_body(service.model, question.jpeg, question.caption, logprobs=logprobs)
        try:
            return self._http.post(service.url, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            self._ledger.release(request)
            raise TemporaryError(f"{service.url} cannot be reached ({error or type(error).__name__})") from error
        except httpx.TimeoutException as error:
            raise TemporaryError(f"{service!r} did not answer within {service.timeout:g} s") from error
        except httpx.TransportError as error:
            raise TemporaryError(f"{service!r} closed the connection ({error or type(error).__name__})") from error


def _wait(state: RetryCallState) -> float:
    """Return the wait before the next attempt: the endpoint's, else an increasing one."""
    error = state.outcome.exception() if state.outcome else None
    requested = error.wait if isinstance(error, TemporaryError) else None
    return tenacity.wait_exponential_jitter(FIRST_WAIT, MOST_WAIT)(state) if requested is None else requested


def _cancel(futures: Iterable[Future[JudgeAnswer]]) -> None:
    for future in futures:
        future.cancel()
