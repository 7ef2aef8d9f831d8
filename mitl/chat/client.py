"""Send questions to a chat endpoint: in parallel, no faster than allowed, with retries."""

import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from decimal import Decimal
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from time import perf_counter

import httpx
import tenacity
from tenacity import RetryCallState, Retrying

from core.errors import CounterpartError
from mitl.chat.ledger import Ceiling, Ledger
from mitl.chat.questions import INSTRUCTION, MOST_ANSWER_TOKENS, Answer, NonsenseError, Usage, read_answer, request_body

PATH = "/chat/completions"
MILLION = 1_000_000
ROLES_AND_PUNCTUATION = 100  # tokens around the texts of a request, by far


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost that the model reads and that it writes; how many a picture takes at most."""

    read: Decimal
    written: Decimal
    picture_tokens: int

    def of(self, usage: Usage, caption: str) -> tuple[tuple[int, int], Decimal]:
        """Return tokens read and written, and their cost; the most there can be where the endpoint does not say.

        No tokeniser makes more tokens of a text than it has bytes.
        """
        most = len((INSTRUCTION + caption).encode()) * 2 + ROLES_AND_PUNCTUATION + self.picture_tokens
        read = most if usage.input_tokens is None else usage.input_tokens
        written = MOST_ANSWER_TOKENS if usage.output_tokens is None else usage.output_tokens
        return (read, written), (read * self.read + written * self.written) / MILLION

    def most(self, caption: str) -> Decimal:
        """Return the most that a question about a caption can cost."""
        return self.of(Usage(), caption)[1]


@dataclass(frozen=True)
class Service:
    """A model behind an endpoint, and how it may be used.

    ``endpoint`` is the base URL, up to and with ``/v1``. ``key`` is secret: it goes into the header of requests and
    nowhere else, and ``key_variable`` is where it came from. ``timeout`` is in seconds; ``per_minute`` 0 is any number.
    """

    endpoint: str
    model: str
    key_variable: str
    key: str
    prices: Prices
    ceiling: Ceiling
    attempts: int
    timeout: float
    per_minute: int
    parallel: int

    def __repr__(self) -> str:
        return f"{self.model} at {self.endpoint}"

    def without_key(self, text: str) -> str:
        """Return what somebody else said with the key taken out."""
        return text.replace(self.key, "[key]") if self.key else text

    @property
    def url(self) -> str:
        """The address that questions are sent to."""
        return self.endpoint.rstrip("/").removesuffix(PATH) + PATH

    @property
    def purse(self) -> str:
        """What all questions to this model are spent from."""
        return f"{self.url} {self.model}"


class Pacer:
    """Spaces the starts of requests evenly; threads may share one."""

    def __init__(
        self,
        per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``per_minute`` 0 is any number."""
        self._gap = 60 / per_minute if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._lock, self._next = Lock(), clock()

    def wait(self) -> None:
        """Return when the next request may start."""
        with self._lock:
            start = max(self._next, self._clock())
            self._next = start + self._gap
        delay = start - self._clock()
        if delay > 0:
            self._sleep(delay)


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
