"""The helpers of a home, such as `input_boolean`: the action that sets one to a state."""

import re
from typing import Any


class StepError(Exception):
    """A step that is not possible. The message is a sentence."""


def helper_action(domain: str, state: str) -> tuple[str | None, dict[str, Any]]:
    """The action that sets a helper to a state, and its data."""
    if domain in ("input_boolean", "timer"):
        actions = {
            "input_boolean": {"on": "turn_on", "off": "turn_off"},
            "timer": {"active": "start", "idle": "cancel", "paused": "pause"},
        }
        if state not in actions[domain]:
            raise StepError(f"A helper of {domain} cannot be {state}: it can be {', '.join(actions[domain])}.")
        return actions[domain][state], {}
    if domain == "input_datetime":
        is_time = re.fullmatch(r"\d+:\d+(:\d+)?", state)
        key = "time" if is_time else "date" if re.fullmatch(r"[\d-]+", state) else "datetime"
        return "set_datetime", {key: state}
    return {
        "input_select": ("select_option", {"option": state}),
        "input_number": ("set_value", {"value": state}),
        "input_text": ("set_value", {"value": state}),
        "counter": ("set_value", {"value": state}),
        "input_button": ("press", {}),
    }.get(domain, (None, {}))
