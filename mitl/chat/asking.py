"""Send questions, many at a time, again where that may help; every answer is in the ledger before anything else."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event
from time import perf_counter

import httpx
import tenacity
from tenacity import RetryCallState, Retrying

from core.errors import CounterpartError
from mitl.chat.answers import Answer, NonsenseError, read_answer
from mitl.chat.ledger import Ledger
from mitl.chat.pacing import Pacer
from mitl.chat.question import request_body
from mitl.chat.refusals import NoLogprobsError, PassingError, refusal
from mitl.chat.service import Service

MOST_NONSENSE = 2  # answers without sense to one question
FIRST_WAIT, MOST_WAIT = 1.0, 60.0  # seconds between tries, where the endpoint names none


@dataclass(frozen=True)
class Question:
    """A pair to be judged: the digest of all that decides the answer, the picture as a JPEG, the caption."""

    digest: str
    jpeg: bytes
    caption: str


class Asker:
    """Asks one service. ``sleep`` is told how long to wait between tries; None waits."""

    def __init__(self, service: Service, ledger: Ledger, sleep: Callable[[float], None] | None = None) -> None:
        self._service, self._ledger = service, ledger
        self._stop = Event()
        self._sleep = sleep or tenacity.sleep_using_event(self._stop)
        self._pacer = Pacer(service.per_minute, sleep=self._sleep)
        self._logprobs = True
        headers = {"Authorization": f"Bearer {service.key}"} if service.key else {}
        self._http = httpx.Client(headers=headers, timeout=service.timeout)

    def ask(self, questions: Iterable[Question]) -> dict[str, Answer]:
        """Return the answers by the questions' digests; each question is asked once, some at the same time.

        Raises CounterpartError for a ceiling that is reached, a service that refuses, and one that does not answer, or
        without sense, however often it is tried. What was answered until then is in the ledger.
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

    def _answer(self, question: Question) -> Answer:
        tries = Retrying(
            retry=tenacity.retry_if_exception_type(PassingError),
            stop=tenacity.stop_after_attempt(self._service.attempts) | tenacity.stop_when_event_set(self._stop),
            wait=_wait,
            sleep=self._sleep,
            reraise=True,
        )
        senseless: list[str] = []
        try:
            return tries(self._try, question, senseless)
        except PassingError as error:
            raise CounterpartError(
                f"{error}, tried {self._service.attempts} times; run the same again later: what was answered is kept."
            ) from error

    def _try(self, question: Question, senseless: list[str]) -> Answer:
        self._pacer.wait()
        while True:
            try:
                return self._paid(question)
            except NoLogprobsError:
                self._logprobs = False
            except NonsenseError as error:
                senseless.append(self._service.without_key(str(error)))
                if len(senseless) >= MOST_NONSENSE:
                    raise CounterpartError(
                        f"{self._service!r} answered {len(senseless)} times without a level, the last time with"
                        f" {senseless[-1]}; is it a model that sees pictures?"
                    ) from error

    def _paid(self, question: Question) -> Answer:
        """Send a question once. What it costs is in the ledger whatever comes of it."""
        service, ledger, logprobs = self._service, self._ledger, self._logprobs
        if self._stop.is_set():
            raise PassingError("another question failed")
        most = service.prices.most(question.caption)
        request = ledger.reserve(question.digest, service.purse, most, service.ceiling)
        started = perf_counter()
        response = self._sent(question, request, logprobs=logprobs)
        seconds = perf_counter() - started
        if response.status_code != httpx.codes.OK:
            ledger.release(request)
            raise refusal(service, response, logprobs=logprobs)
        try:
            answer = read_answer(response.text)
        except NonsenseError as error:
            ledger.settle(request, None, *service.prices.of(error.usage, question.caption), seconds)
            raise
        ledger.settle(request, answer, *service.prices.of(answer.usage, question.caption), seconds)
        return answer

    def _sent(self, question: Question, request: int, *, logprobs: bool) -> httpx.Response:
        """Return the response. A request that the endpoint cannot have seen is forgotten; one without an answer stays
        in the ledger at the most that it can cost."""
        service = self._service
        body = request_body(service.model, question.jpeg, question.caption, logprobs=logprobs)
        try:
            return self._http.post(service.url, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            self._ledger.release(request)
            raise PassingError(f"{service.url} cannot be reached ({error or type(error).__name__})") from error
        except httpx.TimeoutException as error:
            raise PassingError(f"{service!r} did not answer within {service.timeout:g} s") from error
        except httpx.TransportError as error:
            raise PassingError(f"{service!r} broke off ({error or type(error).__name__})") from error


def _wait(state: RetryCallState) -> float:
    """Return how long to wait before the next try: what the endpoint asks for, else longer from try to try."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.wait if isinstance(error, PassingError) else None
    return tenacity.wait_exponential_jitter(FIRST_WAIT, MOST_WAIT)(state) if asked is None else asked


def _cancel(futures: Iterable[Future[Answer]]) -> None:
    for future in futures:
        future.cancel()
