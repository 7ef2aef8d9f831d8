"""Two web hosts beside one: DATABASE_URL=postgres://postgres@%2Fvar%2Frun%2Fpostgresql/… python -m benchmarks.two_hosts

Each host is a network namespace with an address of its own and a share of one processor (a Linux control group), and
serves the site with gunicorn; both use one PostgreSQL, by its socket, and one folder of files. The workers of
``benchmarks.judging`` share the hosts. Measures one host and two in turn, and prints HITs a second and their ratio.
Needs root, iproute2, and control groups of version 1.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from benchmarks.fixtures import fresh_database
from benchmarks.judging import make_round, served, surplus
from benchmarks.judging_crowd import Work, join, work

NETWORK, PORT, WORKERS = "10.77.0", 8000, 8
PROCESSORS = Path("/sys/fs/cgroup/cpu")
PERIOD = 20_000  # microseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.35, help="of one processor, for each host (default 0.35)")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement (default 10)")
    parser.add_argument("--runs", type=int, default=3, help="of one host and of two (default 3)")
    given = parser.parse_args()
    if os.getuid() or not PROCESSORS.is_dir():
        sys.exit("Network namespaces and control groups of version 1 are needed: run it as root on such a Linux.")
    with bridge(), fresh_database(), ExitStack() as hosts:
        door = f"/judge/join/{make_round()}/"
        addresses = [hosts.enter_context(host(number, given.share)) for number in (1, 2)]
        crowds = [(address, join(address, door, WORKERS), given.seconds) for address in addresses]
        measure(crowds)  # the first HITs of a process fill its caches
        rates: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(given.runs):
            for many in rates:
                rates[many].append(measure(crowds[:many]))
                print(f"{many} of 2 hosts: {rates[many][-1]:6.1f} HITs/s", flush=True)
        print(f"{median(rates[2]) / median(rates[1]):.2f} times the HITs/s of one host")
        print(f"{surplus()} answer sets above the ordered number")


def measure(crowds: Sequence[tuple[str, list[str], float]]) -> float:
    """Let the workers of each host work. Returns HITs a second of all."""
    with multiprocessing.get_context("spawn").Pool(len(crowds)) as pool:
        done: list[Work] = pool.starmap(work, crowds)
    if failed := sum(one.failed for one in done):
        print(f"{failed} requests failed")
    return sum(one.hits / one.seconds for one in done)


@contextmanager
def bridge() -> Iterator[None]:
    """Make the network between the hosts and the workers."""
    ip("link", "add", "counterpart", "type", "bridge")
    try:
        ip("address", "add", f"{NETWORK}.1/24", "dev", "counterpart")
        ip("link", "set", "counterpart", "up")
        yield
    finally:
        ip("link", "delete", "counterpart")


@contextmanager
def host(number: int, share: float) -> Iterator[str]:
    """Serve the site on a host of its own, and return its HOST:PORT."""
    name = f"counterpart-{number}"
    address = f"{NETWORK}.{10 + number}"
    group = PROCESSORS / name
    ip("netns", "add", name)
    try:
        ip("link", "add", f"cp{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", f"cp{number}", "master", "counterpart", "up")
        ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", name, "link", "set", device, "up")
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(round(share * PERIOD)))
        enter = f'echo $$ > {group}/cgroup.procs; exec "$@"'
        inside = ["sh", "-c", enter, "--", "ip", "netns", "exec", name]
        with served("site", address=f"{address}:{PORT}", inside=inside) as site:
            yield site.address
    finally:
        ip("netns", "delete", name)
        if group.is_dir():
            group.rmdir()


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


if __name__ == "__main__":
    main()
