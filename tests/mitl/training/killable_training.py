"""A training in a process of its own, to be killed: FOLDER EPOCHS. Prints the number of every finished epoch."""

import sys
from pathlib import Path

import django


def main(folder: str, epochs: str) -> None:
    django.setup()
    from tests.mitl.training.little import train

    train(Path(folder), epochs=int(epochs), report=lambda epoch: print(epoch.number, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
