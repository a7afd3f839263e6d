"""The zones in which a person or a device tracker of a test is. A hub computes them for its own ones."""

from collections.abc import Mapping
from typing import Any

from homeassistant.components.zone import in_zone


def zones_of(hass: Any, entity: str, state: str, given: Mapping[str, Any]) -> dict[str, list[str]]:
    """The attribute `in_zones`, which zones count, by the coordinates that a test gives, or by the state."""
    if entity.split(".")[0] not in ("device_tracker", "person") or "in_zones" in given:
        return {}
    zones = hass.states.async_all("zone")
    latitude, longitude = given.get("latitude"), given.get("longitude")
    if latitude is not None and longitude is not None:
        found = [zone for zone in zones if in_zone(zone, latitude, longitude)]
    else:
        found = [zone for zone in zones if state == ("home" if zone.entity_id == "zone.home" else zone.name)]
    return {"in_zones": sorted(zone.entity_id for zone in found)}
