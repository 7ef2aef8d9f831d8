"""Put the whole emulator together: the Requester API, the workers' site, the queues, the faults and the controls."""

from collections.abc import Callable
from datetime import timedelta

from werkzeug import Request, Response

from emulators.mturk.controls.guarding import is_local
from emulators.mturk.controls.routes import Controls
from emulators.mturk.errors import TurkError
from emulators.mturk.faults.calls import CallFaults
from emulators.mturk.faults.hiding import Hidden
from emulators.mturk.faults.plan import FaultPlan
from emulators.mturk.faults.work import Work
from emulators.mturk.notifying import Notifier
from emulators.mturk.server import Emulator, Service
from emulators.mturk.site.routes import Site
from emulators.mturk.sqs.endpoint import TARGET_PREFIX, refused, respond
from emulators.mturk.sqs.operations import Sqs
from emulators.mturk.sqs.queues import Queues
from emulators.mturk.world import World


def launch(
    world: World,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    plan: FaultPlan | None = None,
    may_control: Callable[[Request], bool] = is_local,
) -> Emulator:
    """Return an emulator of this world with all its rooms, not yet started. Raises OSError for a taken port.

    ``plan`` holds the faults that are set, for those who set them from Python; ``may_control`` says which requests
    may use the controls.
    """
    emulator = Emulator(world, host=host, port=port)
    plan, hidden = plan or FaultPlan(world.clock.now), Hidden()
    emulator.mischief = CallFaults(world, plan, hidden)
    queues = _queues(world)
    world.observers.append(Notifier(world, queues, plan, hidden))
    emulator.services[TARGET_PREFIX] = _sqs_service(emulator, Sqs(world, queues, address=lambda: emulator.url))
    emulator.add_routes(Site(world, Work(world, plan), is_local=may_control).rules())
    emulator.add_routes(Controls(world, plan, is_local=may_control).rules())
    return emulator


def _queues(world: World) -> Queues:
    """Return the queues that the world knows, empty: messages are not journalled."""
    queues = Queues(seed=world.seed, now=world.clock.now)
    with world.looking() as state:
        for name, (visibility_timeout, wait) in state.queues.items():
            queues.create(name, visibility_timeout=timedelta(seconds=visibility_timeout), wait=timedelta(seconds=wait))
    return queues


def _sqs_service(emulator: Emulator, sqs: Sqs) -> Service:
    def serve(request: Request, operation: str) -> Response:
        try:
            emulator.signer_of(request, "sqs")
        except TurkError as error:
            return refused(error.code, error.code, error.message)
        return respond(sqs, request, operation)

    return serve
