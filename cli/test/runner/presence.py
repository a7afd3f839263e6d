"""The zones in which a person or a device tracker of a test is. A hub computes them for its own ones."""

from collections.abc import Mapping
from typing import Any

from homeassistant.components.zone import async_active_zone, in_zone

_COORDINATES = ("latitude", "longitude")


def state_of(hass: Any, entity: str, given: Mapping[str, Any]) -> str | None:
    """The state by the coordinates that a test gives: the smallest zone there. None without coordinates."""
    if not _is_tracked(entity) or not _has_coordinates(given):
        return None
    zone = async_active_zone(hass, *_place(given))
    if zone is None:
        return "not_home"
    return "home" if zone.entity_id == "zone.home" else str(zone.name)


def kept_of(entity: str, kept: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The former attributes without the former place, which a new state has ended."""
    is_placed = not _is_tracked(entity) or "state" not in given or _has_coordinates(given.get("attributes") or {})
    return {key: value for key, value in kept.items() if is_placed or key not in (*_COORDINATES, "gps_accuracy")}


def zones_of(hass: Any, entity: str, state: str, given: Mapping[str, Any]) -> dict[str, list[str]]:
    """The attribute `in_zones`, which zones count, by the coordinates that a test gives, or by the state."""
    if not _is_tracked(entity) or "in_zones" in given:
        return {}
    zones = hass.states.async_all("zone")
    if _has_coordinates(given):
        found = [zone for zone in zones if in_zone(zone, *_place(given))]
    else:
        found = [zone for zone in zones if state == ("home" if zone.entity_id == "zone.home" else zone.name)]
    return {"in_zones": sorted(zone.entity_id for zone in found)}


def _is_tracked(entity: str) -> bool:
    return entity.split(".")[0] in ("device_tracker", "person")


def _has_coordinates(given: Mapping[str, Any]) -> bool:
    return all(given.get(each) is not None for each in _COORDINATES)


def _place(given: Mapping[str, Any]) -> tuple[float, float, float]:
    return float(given["latitude"]), float(given["longitude"]), float(given.get("gps_accuracy") or 0)
