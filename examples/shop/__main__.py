"""``python -m examples.shop [--seconds N] [--json]``: the demo."""

import argparse
import json
import signal
import sys

from rich.console import Console

from examples.shop.demo.cast import DemoError
from examples.shop.demo.play import Ending, play
from examples.shop.demo.stage import Stage

#: Shorter ones leave no time between the two takeovers.
SHORTEST = 6.0


def main() -> int:
    """Play, print the closing line, and return the exit status: 1 where anything is missing or doubled."""
    options = _options()
    signal.signal(signal.SIGTERM, _leave)
    try:
        ending = play(options.seconds, Stage(Console(stderr=options.json)))
    except DemoError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    _report(ending)
    print(json.dumps(ending.figures()) if options.json else ending)
    return 0 if ending.tally.clean else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.shop", description="Three beats, two workers, one lease.")
    parser.add_argument("--seconds", type=_seconds, default=24.0, help="how long the shop runs (default: %(default)g)")
    parser.add_argument("--json", action="store_true", help="print the closing line as JSON, and the rest to stderr")
    return parser.parse_args()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None
    if seconds < SHORTEST:
        raise argparse.ArgumentTypeError(f"{SHORTEST:g} at least")
    return seconds


def _report(ending: Ending) -> None:
    tally = ending.tally
    for what, names in (("missing", tally.missing), ("doubled", tally.doubled), ("strange", tally.strange)):
        for name in names:
            print(f"{what}: {name}", file=sys.stderr)


def _leave(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
