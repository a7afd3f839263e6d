"""The cases of `kubectl hub test`: `main` gets the request of the command line, and writes answers as lines of JSON.

cli/test/protocol.ts describes both. Nothing else is written to the standard output.
"""

import asyncio
import contextlib
import datetime
import gc
import logging
import os
import platform
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from homeassistant import core as ha
from homeassistant.const import __version__ as hub_version

from answers import Answer, Send, own_output
from clock import SETTLE, Endless, Loop, Stuck, clock, new_loop, real_seconds
from configuration import PathError, write_files
from coverage import HARVEST_INTERVAL, Coverage
from definitions import silent_triggers, without_state
from guard import confine, watch
from helpers import StepError
from history import changes, given
from house import ConfigurationError, House
from judge import Fault, Judge
from loops import Runaway
from moments import MomentError, check_local, next_moment, start_of, time_zone
from names import Names
from record import Record, local_time
from services import Call, UnknownAction
from values import cut, is_pattern, patterns_of

PROBE_START = "2026-01-15T12:00:00"
MOST_WITHOUT_STATE = 1_000
EMPTY_CASE: Mapping[str, Any] = {"given": {}, "mock": {}, "echo": True}


class Case:
    """One case: its hub, its steps, and the faults that they find."""

    def __init__(self, runner: "Runner", file: Mapping[str, Any], case: Mapping[str, Any], send: Send | None) -> None:
        self.faults: list[tuple[float, Fault]] = []
        self.without_state: list[str] = []
        self.record = Record(send, "history" in case, case["allowWarnings"])
        self.record.on_runs = self._harvest_soon
        self._runner = runner
        self._case = case
        self._names = Names(runner.home, case)
        self._path: str = file["path"]
        self._place: Mapping[str, Any] = file.get("hub") or {}
        self._step: int | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._house: House | None = None

    def start(self) -> float:
        """The epoch seconds at which the case starts."""
        if "history" in self._case:
            return float(self._case["history"]["from"])
        return start_of(self._case["start"], self._zone)

    def check_times(self) -> None:
        """Raises a MomentError for a start or a step `at` that does not exist in the time zone."""
        place = f"{self._path}:{self._case['line']}: start of"
        try:
            self.start()
            for step in self._case["steps"]:
                if "local" in step.get("at", {}):
                    place = f"{self._path}:{step['line']}: at in"
                    check_local(step["at"]["local"], self._zone)
        except MomentError as error:
            raise MomentError(f"{place} the case {self._case['name']}: {error}") from None

    @property
    def _zone(self) -> datetime.tzinfo:
        return time_zone(self._place.get("timezone") or self._runner.timezone)

    async def run(self, folder: Path) -> None:
        """Starts the hub and executes the steps, until one of them finds a fault."""
        self._check_patterns()
        write_files(folder, self._runner.home)
        self._house = self._new_house(folder)
        await self._house.start()
        self._house.services.check_mocks()
        self.without_state = without_state(self._house.hass)
        if self._runner.coverage:
            self._runner.coverage.learn(self._house.hass)
            self._harvest_often()
        for index, step in enumerate(self._case["steps"]):
            self._step = index
            await self._take(step, folder)
            if self.faults:
                break
        if "history" in self._case:
            await self._play(self._case["history"])
        await self._harvest()

    def fault(self, kind: str, message: str, **more: Any) -> None:
        """Adds a fault of the current step."""
        line = None if self._step is None else self._case["steps"][self._step]["line"]
        fault = {"kind": kind, "step": self._step, "line": line, "message": message, **more}
        self.faults.append((clock.epoch(), fault))

    def note_error(self, error: BaseException) -> None:
        """Adds an error of a step as a fault."""
        if isinstance(error, Runaway):
            self.fault("runaway", f"{error}.", by=error.entity)
        elif isinstance(error, Endless | Stuck):
            self.fault("runaway" if isinstance(error, Endless) else "stuck", f"The case cannot go on: {error}.")
        elif isinstance(error, MomentError):
            self.fault("time", str(error))
        elif isinstance(error, StepError | PathError | UnknownAction):
            self.fault("step", str(error))
        else:
            self.fault("step", f"{type(error).__name__}: {cut(str(error), 500) or 'without a message'}.")

    def log_faults(self) -> None:
        """Converts warnings that the case does not allow to faults."""
        for line in self.record.logs.faults.values():
            fault = {"kind": "log", "step": None, "line": None, "message": line.text, "by": line.by}
            self.faults.append((line.at, fault))
        self.faults.sort(key=lambda each: each[0])

    def _check_patterns(self) -> None:
        for pattern in (*self._case["allowWarnings"], *patterns_of(self._case["steps"])):
            if not is_pattern(pattern):
                raise StepError(f"/{cut(pattern, 200)}/ is not a regular expression of Python: correct it.")

    def _new_house(self, folder: Path) -> House:
        runner, case = self._runner, self._case
        if "history" in case:
            past = given(case["history"])
            entities = dict.fromkeys((*case["given"], *past))
            case = {**case, "given": {each: {**case["given"].get(each, {}), **past.get(each, {})} for each in entities}}
        return House(folder, runner.home, self._place, case, self.record, runner.owned, runner.coverage is not None)

    @property
    def _hub(self) -> House:
        if self._house is None:
            raise StepError("The hub has not started.")
        return self._house

    async def _take(self, step: Mapping[str, Any], folder: Path) -> None:
        try:
            if "set" in step:
                for entity, given in step["set"].items():
                    await self._hub.set(entity, given)
                await asyncio.sleep(SETTLE)
            elif "fire" in step:
                self._hub.hass.bus.async_fire(step["fire"]["event_type"], step["fire"].get("event_data") or {})
                await asyncio.sleep(SETTLE)
            elif "call" in step:
                await self._call(step["call"])
            elif "advance" in step:
                await self._until(clock.epoch() + float(step["advance"]))
            elif "at" in step:
                await self._until(next_moment(step["at"], self._hub.hass))
            elif "restart" in step:
                await self._restart(float(step["restart"]["down"]), folder)
            else:
                judge = Judge(step["expect"], self._hub.hass, self.record, self._names)
                for fault in await judge.faults(self._until):
                    self.fault(**fault)
        except Exception as error:
            self.note_error(error)

    async def _play(self, history: Mapping[str, Any]) -> None:
        """Replays the recorded states, each at its time."""
        self._step = None
        for change in changes(history):
            if (left := change.at - clock.epoch()) > 0:
                await asyncio.sleep(left)
            await self._hub.replay(change.entity, change.state, change.attributes)
        await self._until(float(history["to"]))

    async def _until(self, moment: float) -> None:
        while (left := moment - clock.epoch()) > 0:
            await asyncio.sleep(left)
        await asyncio.sleep(SETTLE)

    async def _call(self, call: Mapping[str, Any]) -> None:
        """A call by the test itself: `expect` does not see it, but sees the calls that result from it."""
        domain, service = call["action"].split(".", 1)
        data, target = call.get("data") or {}, call.get("target") or {}
        services = self._hub.services
        entities = services.targets(domain, service, {**data, **target})
        self.record.show(Call(clock.epoch(), call["action"], entities, dict(data), ()))
        needs_response = services.supports_response(domain, service) is ha.SupportsResponse.ONLY
        task = asyncio.get_running_loop().create_task(
            services.perform(domain, service, {**data, **target}, True, ha.Context(), needs_response, entities)
        )
        await asyncio.sleep(SETTLE)
        if task.done():
            task.result()
        else:
            self._tasks.add(task)
            task.add_done_callback(self._call_ended)

    def _call_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.note_error(error)

    async def _restart(self, down: float, folder: Path) -> None:
        begin = clock.epoch()
        await self._harvest()
        await self._hub.stop()
        await self._harvest()
        left = begin + down - clock.epoch()
        if left > 0:
            await asyncio.sleep(left)
        before, self._house = self._hub, self._new_house(folder)
        await self._house.start(before)
        if self._runner.coverage:
            # The timers of the previous hub have ended.
            self._harvest_often()

    async def _harvest(self) -> None:
        if self._runner.coverage and self._house:
            await self._runner.coverage.harvest(self._house.hass)

    def _harvest_often(self) -> None:
        self._harvest_soon()
        asyncio.get_running_loop().call_later(HARVEST_INTERVAL, self._harvest_often)

    def _harvest_soon(self) -> None:
        if self._runner.coverage:
            task = asyncio.get_running_loop().create_task(self._harvest())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


class Runner:
    """The cases of a request, one after another, each with its own hub."""

    def __init__(self, request: Mapping[str, Any], send: Send, folder: Path) -> None:
        self.home: Mapping[str, Any] = request["home"]
        self.coverage = Coverage() if request["options"]["coverage"] else None
        self.owned: frozenset[str] = frozenset()
        self.timezone: str | None = self.home["hub"].get("timezone")
        self._request = request
        self._send = send
        self._folder = folder
        self._probed: House | None = None

    def run(self) -> None:
        """Answers the request."""
        self._send({"type": "hub", "version": hub_version, "python": platform.python_version()})
        if not self._probe():
            return
        # Modules that are loaded now are never garbage, so collections need not check them.
        gc.collect()
        gc.freeze()
        self._check_times()
        for file_index, file in enumerate(self._request["files"]):
            for case_index, case in enumerate(file["cases"]):
                self._send(self._answer_of(file, case, {"file": file_index, "case": case_index}))
                # A hub that ends logs warnings, which must not appear in the next case.
                gc.collect()
        if self.coverage:
            self._send({"type": "coverage", "items": self.coverage.items()})

    def _check_times(self) -> None:
        """Raises a MomentError for a time that does not exist, before any case runs."""
        for file in self._request["files"]:
            for definition in file["cases"]:
                Case(self, file, definition, None).check_times()

    def _probe(self) -> bool:
        """Starts the hub without a case, to find the entities that the home creates and the refused definitions."""
        record = Record(None)
        loop = new_loop(start_of(PROBE_START, time_zone(self.timezone)))
        with self._fresh_folder() as folder:
            try:
                write_files(folder, self.home)
                loop.run_until_complete(self._start_once(folder, record))
            except (ConfigurationError, PathError) as error:
                self._refuse("configuration.yaml", str(error))
                return False
            except (Runaway, Endless, Stuck):
                pass  # each case reports the error, with its time
            self._report_home(record)
            _close(loop)
        return True

    async def _start_once(self, folder: Path, record: Record) -> None:
        self._probed = House(folder, self.home, {}, EMPTY_CASE, record)
        await self._probed.start()

    def _report_home(self, record: Record) -> None:
        house, self._probed = self._probed, None
        if house is None:
            return
        self.owned = house.entities()
        self.timezone = str(house.hass.config.time_zone)
        for message in dict.fromkeys(record.logs.of_configuration):
            self._refuse("configuration.yaml", message)
        for refused in house.refused():
            self._send({"type": "refused", **refused})
        triggers = silent_triggers(house.hass)
        if house.unsimulated or triggers:
            self._send({"type": "unsimulated", "domains": house.unsimulated, "triggers": triggers})

    def _refuse(self, name: str, message: str) -> None:
        self._send({"type": "refused", "entity": "configuration", "name": name, "message": cut(message)})

    def _answer_of(self, file: Mapping[str, Any], definition: Mapping[str, Any], index: Mapping[str, int]) -> Answer:
        """Runs a case."""
        begin = real_seconds()
        has_timeline = self._request["options"]["timeline"] or "history" in definition
        send = (lambda answer: self._send({**answer, **index})) if has_timeline else None
        case = Case(self, file, definition, send)
        loop: Loop | None = None
        with self._fresh_folder() as folder:
            try:
                loop = new_loop(case.start())
                loop.run_until_complete(case.run(folder))
            except (Exception, SystemExit) as error:
                case.note_error(error)
            try:
                case.log_faults()
            except Endless as error:
                case.note_error(error)
            case.record.flush()
            virtual = clock.offset if loop else 0.0
            times = [local_time(epoch) if loop else definition["start"] for epoch, _ in case.faults]
            faults = [{**fault, "at": at} for at, (_, fault) in zip(times, case.faults, strict=True)]
            if loop:
                _close(loop)
        return {
            "type": "case",
            **index,
            "virtualSeconds": round(virtual, 3),
            "realSeconds": round(real_seconds() - begin, 4),
            "faults": faults,
            "warnings": [line.text for line in case.record.logs.lines],
            "withoutState": case.without_state[:MOST_WITHOUT_STATE],
        }

    @contextlib.contextmanager
    def _fresh_folder(self) -> Any:
        folder = self._folder / "hub"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _close(loop: Loop) -> None:
    """Ends the hub of a case at once. Warnings about its end do not belong to the case."""
    logging.getLogger().handlers = [logging.NullHandler()]
    for task in asyncio.all_tasks(loop):
        task.cancel()
    with contextlib.suppress(BaseException):
        loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def main(request: Mapping[str, Any]) -> None:
    """Runs all cases and ends the process: with 0 after all answers are written, with 1 after `failed`."""
    warnings.simplefilter("ignore")
    send = own_output()
    folder = Path(request.get("folder") or os.path.join(tempfile.gettempdir(), f"hubtest-{os.getpid()}"))
    # Watched before the folder exists: otherwise a signal in between would leave the folder behind.
    watch(folder)
    folder.mkdir(mode=0o700)
    confine(folder)
    code = 0
    try:
        Runner(request, send, folder).run()
    except (MomentError, PathError) as error:
        send({"type": "failed", "message": str(error)})
        code = 1
    except (Exception, SystemExit) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        send({"type": "failed", "message": f"The runner has failed: {type(error).__name__}: {error} ({where})."})
        code = 1
    shutil.rmtree(folder, ignore_errors=True)
    # Exits without the clean-up of modules and threads, which takes a second.
    os._exit(code)
