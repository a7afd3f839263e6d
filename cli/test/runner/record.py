"""The record of a case: calls since the last `expect`, changes for the timeline, and the log of the hub."""

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homeassistant.core import callback

from answers import Answer, Send
from clock import clock, dt_util
from coverage import RUNS_BETWEEN_HARVESTS
from loops import Loops
from services import Authors, Call
from values import Plain, as_text, cut, is_pattern, plain, without_addresses

MOST_LOG_LINES = 100
# Characters of a log line.
MOST_CHARACTERS = 1_000
MOST_CALLS = 50_000
MOST_BUFFERED_ENTRIES = 500


def local_time(epoch: float) -> str:
    """The time in ISO 8601, in the time zone of the hub: `2026-11-02T19:09:00.000+01:00`."""
    return str(dt_util.as_local(dt_util.utc_from_timestamp(epoch)).isoformat(timespec="milliseconds"))


def seen(call: Call, bound: Plain | None = None) -> Answer:
    """A call in the form of an answer. `bound`: a common size limit for the data of several calls."""
    bound = bound or Plain()
    return {
        "at": local_time(call.at),
        "action": call.action,
        "entities": bound.of(call.entities),
        "data": bound.of(call.data),
        "by": call.by,
    }


@dataclass(slots=True)
class LogLine:
    """A warning or an error of the hub. `at`: epoch seconds; `by`: the automation or script that logged it."""

    at: float
    text: str
    by: str | None


# The loggers of automations, scripts, templates and triggers. Other loggers report missing devices and services.
_WATCHED = (
    *("homeassistant.components.automation", "homeassistant.components.script", "homeassistant.components.template"),
    *("homeassistant.components.homeassistant.triggers", "homeassistant.components.blueprint"),
    *("homeassistant.helpers.condition", "homeassistant.helpers.event", "homeassistant.helpers.script"),
    *("homeassistant.helpers.script_variables", "homeassistant.helpers.template", "homeassistant.helpers.trigger"),
)
_OF_CONFIGURATION = ("homeassistant.config", "homeassistant.setup")
# Forms of messages that are also in the answer `refused`. They are compared without the names and values in them, such
# as the name of an automation.
_REFUSALS = re.compile(r"has been disabled: |(failed to generate|generated invalid) (automation|script)", re.I)
# Messages about a custom integration, or one whose packages this Python lacks. They do not mean that the hub refuses
# the configuration.
_NOT_INSTALLED = re.compile(r"Integration (?:'.*' )?not found|Unable to import component|Requirements for ")
_OF_THE_SUN = ("sun.sun", "sensor.sun_next_", "sensor.sun_solar_", "binary_sensor.sun_solar_")


class Logs(logging.Handler):
    """Keeps the warnings that matter to a test: each text once, and not more than MOST_LOG_LINES of each kind.

    `allowed`: regular expressions for warnings that do not fail the case. They are counted separately, so that they
    leave room for others.
    """

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        super().__init__(logging.WARNING)
        self.folder = ""
        self.faults: dict[str, LogLine] = {}
        self.of_configuration: list[str] = []
        self._allowed: dict[str, LogLine] = {}
        self._patterns = [re.compile(each) for each in allowed if is_pattern(each)]
        # The moment at which mocks have raised an error, and the messages of these errors.
        self._raised: tuple[float, set[str]] = (0.0, set())

    @property
    def lines(self) -> list[LogLine]:
        """All warnings, in chronological order."""
        return sorted((*self._allowed.values(), *self.faults.values()), key=lambda line: line.at)

    def excuse(self, message: str) -> None:
        """Allows the errors that the hub logs now because a mock raises an error with this message."""
        at, messages = self._raised
        self._raised = (clock.epoch(), {*(messages if at == clock.epoch() else ()), without_addresses(message)})

    def attach(self, folder: str) -> None:
        """Makes this the only handler of the process. Paths in messages become relative to the folder."""
        self.folder = folder
        root = logging.getLogger()
        root.handlers = [self]
        root.setLevel(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        message = self._message(record)
        if record.name in _OF_CONFIGURATION:
            if record.levelno >= logging.ERROR:
                self._refuse(message)
            return
        is_watched = any(record.name == each or record.name.startswith(f"{each}.") for each in _WATCHED)
        if not is_watched or _REFUSALS.search(as_text(record.msg)):
            return
        by = _entity_of_logger(record.name)
        is_repeated = message.startswith("Error while executing automation ") and any(
            line.by == by and line.at == clock.epoch() for line in self.lines
        )
        if is_repeated:
            # The automation's script has logged the error already, with its place.
            return
        self.add(f"{record.levelname} {record.name}: {message}", by)

    def add(self, text: str, by: str | None = None) -> None:
        """Keeps a warning, unless its text is kept already."""
        at, messages = self._raised
        is_raised = at == clock.epoch() and any(text.endswith(f": {message}") for message in messages)
        text = cut(text, MOST_CHARACTERS)
        is_allowed = is_raised or any(pattern.search(text) for pattern in self._patterns)
        kept = self._allowed if is_allowed else self.faults
        if len(kept) < MOST_LOG_LINES:
            kept.setdefault(text, LogLine(at=clock.epoch(), text=text, by=by))

    def _refuse(self, message: str) -> None:
        is_shown = not _NOT_INSTALLED.search(message) and not message.endswith("Invalid config.")
        if is_shown and len(self.of_configuration) < MOST_LOG_LINES:
            self.of_configuration.append(cut(message, MOST_CHARACTERS))

    def _message(self, record: logging.LogRecord) -> str:
        try:
            message = record.getMessage()
        except Exception:
            message = as_text(record.msg)
        if record.exc_info and record.exc_info[1] is not None:
            message = f"{message} ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        if self.folder:
            message = message.replace(f"{self.folder}/", "")
        return without_addresses(message)


def _entity_of_logger(name: str) -> str | None:
    match = re.fullmatch(r"homeassistant\.components\.(automation|script)\.(\w+)", name)
    return f"{match[1]}.{match[2]}" if match else None


class Record:
    """Listens to the hubs of one case: a restart creates another hub.

    With `send`, each call is sent as an answer of the timeline, and each change too unless `only_calls` is set. Answers
    are buffered for a moment, since the author of a call may become known only after the call.
    """

    def __init__(self, send: Send | None, only_calls: bool = False, allowed: Sequence[str] = ()) -> None:
        self.authors = Authors()
        # Calls since the end of the previous `expect`.
        self.calls: deque[Call] = deque(maxlen=MOST_CALLS)
        self.dropped = 0
        self.on_runs: Callable[[], None] | None = None
        self.logs = Logs(allowed)
        # The states with which a hub starts are not changes.
        self.is_starting = False
        self.changed = asyncio.Event()
        self._send = send
        self._only_calls = only_calls
        self._buffer: list[Call | Answer] = []
        self._runs = 0
        self._loops = Loops()

    def listen(self, hass: Any) -> None:
        """Subscribes to the events of a hub that starts."""
        for event in ("automation_triggered", "script_started"):
            hass.bus.async_listen(event, _as_callback(self._on_run))
        hass.bus.async_listen("state_changed", _as_callback(self._on_change))

    def on_call(self, call: Call) -> None:
        """Records a call of the home."""
        self.dropped += len(self.calls) == MOST_CALLS
        self.calls.append(call)
        self.show(call)
        self.changed.set()

    def show(self, entry: Call | Answer) -> None:
        """Adds an entry only to the timeline."""
        if self._send:
            self._buffer.append(entry)
            if len(self._buffer) > MOST_BUFFERED_ENTRIES:
                self._flush_before(clock.epoch())

    def take_calls(self) -> Iterator[Call]:
        """The calls that no previous `expect` has taken, with their authors."""
        while self.calls:
            yield self.authors.complete(self.calls.popleft())

    def flush(self) -> None:
        """Sends the timeline up to now."""
        self._flush_before(float("inf"))

    def _flush_before(self, epoch: float) -> None:
        if not self._send:
            return
        late = [entry for entry in self._buffer if _moment(entry) >= epoch]
        for entry in self._buffer[: len(self._buffer) - len(late)]:
            if isinstance(entry, Call):
                self._send({"type": "call", **seen(self.authors.complete(entry))})
            else:
                self._send({**entry, "at": local_time(entry["at"])})
        self._buffer = late

    def _on_run(self, event: Any) -> None:
        entity = event.data["entity_id"]
        self.authors.add(event.context.id, entity)
        self._runs += 1
        if self.on_runs and self._runs % RUNS_BETWEEN_HARVESTS == 0:
            self.on_runs()
        if loop := self._loops.add(entity, event.context, clock.offset):
            self.logs.add(loop, entity)

    def _on_change(self, event: Any) -> None:
        self.changed.set()
        entity = event.data["entity_id"]
        # The position of the sun changes every few minutes, and the state of an automation with each of its runs.
        is_shown = self._send and not self._only_calls and not self.is_starting
        if not is_shown or entity.startswith(_OF_THE_SUN):
            return
        old, new = event.data["old_state"], event.data["new_state"]
        attributes = _changed_attributes(old, new)
        is_same = old is not None and new is not None and old.state == new.state
        if is_same and (not attributes or entity.startswith(("automation.", "script."))):
            return
        change: Answer = {"type": "change", "at": clock.epoch(), "entity": entity}
        change.update({key: cut(state.state) for key, state in (("from", old), ("to", new)) if state is not None})
        self.show({**change, "attributes": plain(attributes)} if attributes else change)


def _moment(entry: Call | Answer) -> float:
    return entry.at if isinstance(entry, Call) else float(entry["at"])


def _changed_attributes(old: Any, new: Any) -> Mapping[str, Any]:
    if old is None or new is None:
        return {}
    return {key: value for key, value in new.attributes.items() if old.attributes.get(key) != value}


def _as_callback(function: Callable[..., None]) -> Callable[..., None]:
    def listener(event: Any) -> None:
        function(event)

    marked: Callable[..., None] = callback(listener)
    return marked
