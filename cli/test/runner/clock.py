"""Virtual time for asyncio and for Home Assistant.

Must be imported before anything of Home Assistant. It replaces the clock of the standard library, and the functions
`now` and `utcnow` of `homeassistant.util.dt`. These must be replaced before another module of the hub is loaded,
because many modules import the functions themselves. The hub's random delay after a time of day is shortened.
"""

import asyncio
import contextvars
import datetime
import importlib.util
import random
import selectors
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType
from typing import Any, SupportsIndex

# Start of the monotonic clock: not 0, because some code uses 0 for "never".
MONOTONIC_START = 1000.0
# Seconds by which a timer fires late. asyncio runs timers that are due before the current time plus a nanosecond. After
# half a year of virtual time, a nanosecond is too small to change the floating-point sum, and the timer would not fire.
LATE = 1e-6
# A turn of the loop takes microseconds, and the start of a hub takes some hundred turns.
MOST_TURNS_AT_ONE_INSTANT = 200_000

# Seconds. Each step of a test takes this time. Events take one or two turns of the loop, templates some more. Waiting
# until the hub has no task would wait through delays.
SETTLE = 0.01
# Microseconds by which the hub may fire a time of day late. The hub's own values are up to half a second, so a step
# `at: "23:00"` would end before the triggers of 23:00, and an `expect` for no calls would not see theirs.
RANDOM_MICROSECONDS = {"RANDOM_MICROSECOND_MIN": 1_000, "RANDOM_MICROSECOND_MAX": 5_000}

real_seconds = time.perf_counter


class Stuck(SystemExit):
    """Nothing is ready and no timer runs. A SystemExit, since asyncio lets no other exception leave its loop."""


class Endless(SystemExit):
    """Work continues endlessly without a timer, so that the clock would never advance."""


class Clock:
    """The virtual time: seconds since the start of the case, and the epoch seconds of that start."""

    def __init__(self) -> None:
        self.start = 0.0
        self.offset = 0.0
        self.turns = 0

    def epoch(self) -> float:
        return self.start + self.offset

    def monotonic(self) -> float:
        return MONOTONIC_START + self.offset

    def forward(self, seconds: float | SupportsIndex) -> None:
        seconds = float(seconds)
        if seconds > 0:
            self.offset += seconds
            self.turns = 0


clock = Clock()


class Selector(selectors.SelectSelector):
    """Advances the clock instead of waiting.

    asyncio passes the seconds until the next timer if nothing is ready, and 0 if something is.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck("nothing is ready, and no timer runs")
        if timeout > 0:
            clock.forward(timeout + LATE)
        clock.turns += 1
        if clock.turns > MOST_TURNS_AT_ONE_INSTANT:
            raise Endless("the hub does not come to rest at one moment: something calls itself again and again")
        # Only the loop's own pipe is registered, unless a package opens a connection.
        return super().select(0) if len(self.get_map()) > 1 else []


class Loop(asyncio.SelectorEventLoop):
    """An event loop on the virtual clock, without threads, so that the order of execution is deterministic."""

    def __init__(self) -> None:
        super().__init__(Selector())

    def time(self) -> float:
        return clock.monotonic()

    def run_in_executor[*Arguments, Result](
        self, executor: Executor | None, func: Callable[[*Arguments], Result], *args: *Arguments
    ) -> asyncio.Future[Result]:
        """Runs the job at once. A job that waits for the loop gets the hub's own error for that."""
        future: asyncio.Future[Result] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def call_soon_threadsafe[*Arguments](
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)


def new_loop(start: float) -> Loop:
    """Creates a loop whose time begins at these epoch seconds. The hub's random delays are the same in each run."""
    clock.start, clock.offset, clock.turns = start, 0.0, 0
    random.seed(0)
    loop = Loop()
    asyncio.set_event_loop(loop)
    return loop


def _replace_time() -> None:
    time.time = clock.epoch
    time.monotonic = clock.monotonic
    time.time_ns = lambda: int(clock.epoch() * 1e9)
    time.monotonic_ns = lambda: int(clock.monotonic() * 1e9)
    time.sleep = clock.forward


def _load_dt() -> ModuleType:
    """Loads `homeassistant.util.dt` before its package, which imports `utcnow` from it."""
    package = importlib.util.find_spec("homeassistant")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("Home Assistant is not installed for this Python")
    name = "homeassistant.util.dt"
    path = Path(package.submodule_search_locations[0], "util", "dt.py")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"there is no {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _replace_dt() -> ModuleType:
    module = _load_dt()

    def utcnow() -> datetime.datetime:
        return datetime.datetime.fromtimestamp(clock.epoch(), datetime.UTC)

    def now(time_zone: datetime.tzinfo | None = None) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(clock.epoch(), time_zone or module.DEFAULT_TIME_ZONE)

    vars(module).update(utcnow=utcnow, now=now)
    vars(importlib.import_module("homeassistant.util")).update(dt=module)
    return module


_replace_time()
dt_util: Any = _replace_dt()
vars(importlib.import_module("homeassistant.helpers.event")).update(RANDOM_MICROSECONDS)
