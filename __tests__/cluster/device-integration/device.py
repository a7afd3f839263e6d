"""The behaviour of the device, read from device.json, which a test may change at any time."""

import json
from pathlib import Path

HERE = Path(__file__).parent


def behaviour():
    return json.loads((HERE / "device.json").read_text())


def note(what):
    """Records a request to the device as a line."""
    with (HERE / "requests.log").open("a") as log:
        log.write(json.dumps(what) + "\n")


def fail_once():
    """Returns whether this set-up fails, and decrements `setupFailures`."""
    now = behaviour()
    left = now.get("setupFailures", 0)
    if left > 0:
        (HERE / "device.json").write_text(json.dumps({**now, "setupFailures": left - 1}))
    return left > 0
