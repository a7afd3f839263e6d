"""The behaviour of the device, by the file device.json, which a test changes at any time."""

import json
from pathlib import Path

HERE = Path(__file__).parent


def behaviour():
    return json.loads((HERE / "device.json").read_text())


def note(what):
    """A line for each thing that the device was asked."""
    with (HERE / "requests.log").open("a") as log:
        log.write(json.dumps(what) + "\n")


def fail_once():
    """Whether this set-up fails: `setupFailures` counts down."""
    now = behaviour()
    left = now.get("setupFailures", 0)
    if left > 0:
        (HERE / "device.json").write_text(json.dumps({**now, "setupFailures": left - 1}))
    return left > 0
