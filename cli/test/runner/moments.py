"""Moments of local time: the next one that matches, across changes of daylight saving time."""

import datetime
import zoneinfo
from collections.abc import Mapping
from typing import Any

from homeassistant.helpers import sun

from clock import clock, dt_util
from record import local_time

# Two changes of daylight saving time are never within a few days, so a time of day is missing on one day at most.
DAYS_AHEAD = 3
# The hub, its libraries and the calculation of the sun support these years.
YEARS = range(1971, 2100)
MOST_SECONDS_AHEAD = 367 * 86_400


class MomentError(Exception):
    """A moment that does not exist. The message is a sentence."""


def time_zone(name: str | None) -> datetime.tzinfo:
    """The time zone with this name; UTC, the hub's own default, without a name."""
    try:
        return zoneinfo.ZoneInfo(name or "UTC")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise MomentError(f"There is no time zone {name}: write one of IANA, such as Europe/Berlin.") from None


def epochs_of(local: datetime.datetime, zone: datetime.tzinfo) -> list[float]:
    """The epoch seconds of a local time, in order: none in a gap of daylight saving time, two in an overlap."""
    found = []
    for fold in (0, 1):
        epoch = local.replace(tzinfo=zone, fold=fold).timestamp()
        if datetime.datetime.fromtimestamp(epoch, zone).replace(tzinfo=None, fold=0) == local:
            found.append(epoch)
    return sorted(set(found))


def start_of(text: str, zone: datetime.tzinfo) -> float:
    """The epoch seconds at which a case starts."""
    local = datetime.datetime.fromisoformat(text)
    if local.year not in YEARS:
        raise MomentError(f"The start {text} is too far away: write a year from {YEARS[0]} to {YEARS[-1]}.")
    return _existing(local, zone)[0]


def check_local(text: str, zone: datetime.tzinfo) -> None:
    """Raises a MomentError for a local time that a change of daylight saving time skips."""
    _existing(datetime.datetime.fromisoformat(text), zone)


def next_moment(instant: Mapping[str, Any], hass: Any) -> float:
    """The epoch seconds of an instant, strictly after now: {clock}, {sun, offset} or {local}."""
    zone: datetime.tzinfo = dt_util.DEFAULT_TIME_ZONE
    if "sun" in instant:
        return _next_sun(instant["sun"], float(instant.get("offset") or 0), hass)
    if "clock" in instant:
        return _next_clock(datetime.time.fromisoformat(instant["clock"]), zone)
    local = datetime.datetime.fromisoformat(instant["local"])
    later = [epoch for epoch in _existing(local, zone) if epoch > clock.epoch()]
    if not later:
        raise MomentError(f"{instant['local']} is not after {local_time(clock.epoch())}, the time of the step before.")
    if later[0] - clock.epoch() > MOST_SECONDS_AHEAD:
        raise MomentError(f"{instant['local']} is more than 367 days away: write an earlier time.")
    return later[0]


def _existing(local: datetime.datetime, zone: datetime.tzinfo) -> list[float]:
    found = epochs_of(local, zone)
    if not found:
        raise MomentError(f"{local.isoformat()} does not exist in {zone}: the clocks are put forward then.")
    return found


def _next_clock(time: datetime.time, zone: datetime.tzinfo) -> float:
    today = datetime.datetime.fromtimestamp(clock.epoch(), zone).date()
    days = (today + datetime.timedelta(days=ahead) for ahead in range(DAYS_AHEAD))
    epochs = (epoch for day in days for epoch in epochs_of(datetime.datetime.combine(day, time), zone))
    return next(epoch for epoch in epochs if epoch > clock.epoch())


def _next_sun(event: str, offset: float, hass: Any) -> float:
    try:
        found = sun.get_astral_event_next(hass, event, dt_util.utcnow(), datetime.timedelta(seconds=offset))
    except ValueError:
        raise MomentError(f"There is no {event} at the place of the hub within a year of this moment.") from None
    return float(found.timestamp())
