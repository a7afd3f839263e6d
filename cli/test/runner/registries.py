"""The registries of a simulated hub: floors, labels, areas, and the entities in them.

References to floors, labels and areas are names.
"""

from collections.abc import Mapping
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry, entity_registry, floor_registry, label_registry

from helpers import StepError


class Registries:
    """The registries of one start of a hub."""

    def __init__(self, hass: HomeAssistant, home: Mapping[str, Any]) -> None:
        self._hass = hass
        self._home = home

    def register_places(self) -> None:
        """Creates the floors, labels and areas of the home."""
        floors, labels = floor_registry.async_get(self._hass), label_registry.async_get(self._hass)
        areas = area_registry.async_get(self._hass)
        for each in self._home["floors"]:
            floors.async_create(each["name"], **_fields(each, ("icon", "level"), ("aliases",)))
        for each in self._home["labels"]:
            labels.async_create(each["name"], **_fields(each, ("icon", "color", "description"), ()))
        for each in self._home["areas"]:
            floor = each.get("floor") and floors.async_get_floor_by_name(each["floor"])
            areas.async_create(
                each["name"],
                **_fields(each, ("icon", "picture"), ("aliases",)),
                floor_id=floor.floor_id if floor else None,
                labels={self._label(name) for name in each.get("labels") or ()},
            )

    def register_entities(self) -> None:
        """Gives definitions and helpers the entity ids that they have in the hub, which do not follow from names."""
        entities = entity_registry.async_get(self._hass)
        for entity, unique_id in (self._home.get("entityIds") or {}).items():
            domain, object_id = entity.split(".", 1)
            platform = "homeassistant" if domain == "scene" else domain
            entities.async_get_or_create(domain, platform, unique_id, suggested_object_id=object_id)
        for helper in self._home["helpers"]:
            # A helper is created under its id and renamed, so that the name is no part of the entity id.
            domain, unique_id = helper["domain"], helper["item"]["id"]
            entities.async_get_or_create(domain, domain, unique_id, suggested_object_id=unique_id)

    def place_definitions(self) -> None:
        """Gives the entities of definitions the areas and labels of their resources."""
        entities = entity_registry.async_get(self._hass)
        for each in self._home.get("entityPlaces") or ():
            entity = entities.async_get_entity_id(each["domain"], each["platform"], each["id"])
            if entity is not None:
                self.put_in_place(entity, each)

    def put_in_place(self, entity: str, given: Mapping[str, Any]) -> None:
        """Sets area and labels in the entity registry, so that the hub itself resolves targets."""
        if given.get("area") is None and not given.get("labels"):
            return
        entities = entity_registry.async_get(self._hass)
        domain, object_id = entity.split(".", 1)
        found = entities.async_get(entity)
        entry = found or entities.async_get_or_create(domain, "hubtest", entity, suggested_object_id=object_id)
        changes: dict[str, Any] = {}
        if given.get("area") is not None:
            changes["area_id"] = self._area(given["area"])
        if given.get("labels"):
            changes["labels"] = {self._label(name) for name in given["labels"]}
        entities.async_update_entity(entry.entity_id, **changes)

    def ids(self, kind: str) -> list[str]:
        """The ids of areas, floors or labels."""
        if kind == "area":
            return [each.id for each in area_registry.async_get(self._hass).async_list_areas()]
        if kind == "floor":
            return [each.floor_id for each in floor_registry.async_get(self._hass).async_list_floors()]
        return [each.label_id for each in label_registry.async_get(self._hass).async_list_labels()]

    def _label(self, name: str) -> str:
        labels = label_registry.async_get(self._hass)
        found = labels.async_get_label_by_name(name) or labels.async_get_label(name) or labels.async_create(name)
        return str(found.label_id)

    def _area(self, name: str) -> str:
        areas = area_registry.async_get(self._hass)
        found = areas.async_get_area_by_name(name) or areas.async_get_area(name)
        if found is None and self._home["areas"]:
            known = ", ".join(sorted(area.name for area in areas.async_list_areas()))
            raise StepError(f"There is no area {name}: the areas are {known}.")
        return str((found or areas.async_create(name)).id)


def _fields(entry: Mapping[str, Any], names: tuple[str, ...], sets: tuple[str, ...]) -> dict[str, Any]:
    scalars = {name: entry[name] for name in names if entry.get(name) is not None}
    return {**scalars, **{name: set(entry[name]) for name in sets if entry.get(name)}}
