"""A hub in virtual time: its core, helpers, templates, automations, scripts and scenes.

Everything else consists of states and recorded calls.
"""

import asyncio
import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from homeassistant import bootstrap, config_entries, core_config, loader
from homeassistant import config as hub_config
from homeassistant import core as ha
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry, issue_registry
from homeassistant.setup import async_setup_component
from homeassistant.util.async_ import get_scheduled_timer_handles
from homeassistant.util.unit_system import get_unit_system

from clock import SETTLE, clock
from configuration import helper_domains, named_domains, simulated, with_items
from coverage import STORED_TRACES
from devices import Devices, abilities, as_tuples, echo, is_switched_by_hub, refusal
from guard import refused
from helpers import StepError, helper_action
from history import can_replay
from presence import kept_of, state_of, zones_of
from record import Record
from registries import Registries
from services import ENTITY_DOMAINS, Call, Services
from values import as_text

LONGEST_STATE = 255
_ACTION = re.compile(r"^\s*(?:-\s+)?(?:action|service):\s*['\"]?([a-z_]+)\.\w+", re.M)


# Settings of the section `homeassistant` for folders, addresses and logins of the machine.
_OF_THE_MACHINE = (
    *("allowlist_external_dirs", "allowlist_external_urls", "auth_mfa_modules", "auth_providers", "external_url"),
    *("internal_url", "media_dirs", "whitelist_external_dirs"),
)


class ConfigurationError(Exception):
    """The hub does not load configuration.yaml. The message is the hub's."""


class House:
    """One start of a hub.

    `place`: overrides the location in the configuration. `case`: its fields given, mock and echo, and whether it has a
    history. `owned`: the entities that the home itself creates.
    """

    def __init__(
        self,
        folder: Path,
        home: Mapping[str, Any],
        place: Mapping[str, Any],
        case: Mapping[str, Any],
        record: Record,
        owned: frozenset[str] = frozenset(),
        is_traced: bool = False,
    ) -> None:
        self.record = record
        self.unsimulated: list[str] = []
        self._home = home
        self._place = place
        self._given: Mapping[str, Mapping[str, Any]] = case["given"]
        self._echo: bool = case["echo"]
        self._has_history = "history" in case
        self._owned = owned
        self._is_traced = is_traced
        # A dict keeps the order of insertion; the order of a set would differ in each run.
        self._simulated: dict[str, None] = {}
        self._devices = Devices()
        self.hass = ha.HomeAssistant(str(folder))
        self._registries = Registries(self.hass, home)
        self.services = Services(self.hass, case["mock"], self._on_call)
        self.services.on_done = self._on_done
        self.services.on_check = self._on_check
        self.services.on_missing = self._on_missing
        self.services.on_raise = record.logs.excuse
        self.hass.services = self.services

    async def start(self, before: "House | None" = None) -> None:
        """Starts the hub. After a restart, given entities are unavailable, like those of devices at first."""
        hass, is_restart = self.hass, before is not None
        self.record.is_starting = True
        self.record.logs.attach(hass.config.config_dir)
        loader.async_setup(hass)
        config = simulated(await self._configuration())
        self.unsimulated = config.unsimulated
        await self._start_core(config.config, is_restart)
        self.record.listen(hass)
        await self._set_up(("homeassistant", "persistent_notification"), config.config)
        await self._process_core_config(config.config)
        await self._move_to(self._place)
        zones = [*_list(config.config.get("zone")), *self._home["zones"]]
        await self._set_up(("zone",), {**config.config, **({"zone": zones} if zones else {})})
        await self._set_up(dict.fromkeys([*config.helpers, *helper_domains(self._home)]), config.config)
        for entity in before._simulated if before else [each for each in self._given if each not in self._owned]:
            self._give(entity, self._given.get(entity, {}), is_restart)
        merged = with_items(config.config, self._home, {"stored_traces": STORED_TRACES} if self._is_traced else None)
        if not is_restart:
            _switch_off(merged["automation"], self._home["disabled"])
        domains = {entity.split(".")[0] for entity in self._given} | named_domains(merged) | self._blueprint_domains()
        used = [domain for domain in ENTITY_DOMAINS if domain in domains]
        # The integration `sun` creates sensors, so it also sets up their domain.
        await self._set_up(dict.fromkeys([*config.others, *used, "sun"]), {**config.config, "sun": {}})
        if not is_restart:
            await self._give_owned()
        await self._set_up(("scene", "script", "automation"), merged)
        if not is_restart:
            self._registries.place_definitions()
        self.record.is_starting = False
        await hass.async_start()
        await asyncio.sleep(SETTLE)

    async def _start_core(self, config: dict[str, Any], is_restart: bool) -> None:
        hass = self.hass
        hass.config_entries = config_entries.ConfigEntries(hass, config)
        hass.config.skip_pip = True
        await self._move_to({"timezone": "UTC", **self._home["hub"], **self._place})
        await bootstrap.async_load_base_functionality(hass)
        if not is_restart:
            self._registries.register_places()
            self._registries.register_entities()

    async def _move_to(self, place: Mapping[str, Any]) -> None:
        config = self.hass.config
        for name in ("country", "currency", "elevation", "language", "latitude", "longitude"):
            if place.get(name) is not None:
                setattr(config, name, place[name])
        if place.get("unitSystem"):
            config.units = get_unit_system(place["unitSystem"])
        if place.get("timezone"):
            await config.async_set_time_zone(place["timezone"])

    async def _configuration(self) -> dict[str, Any]:
        refused.clear()
        try:
            config = dict(await hub_config.async_hass_config_yaml(self.hass) or {})
        except (HomeAssistantError, OSError) as error:
            message = str(error).replace(f"{self.hass.config.config_dir}/", "")
            if re.fullmatch(r"\w+", message):
                # The hub's message for `!env_var` is only the name of the variable.
                message = f"no variable {message} is in the environment of a test: write `!env_var {message} DEFAULT`"
            raise ConfigurationError(message) from None
        for path in refused:
            # The hub treats a folder that cannot be read as empty, so the error is raised here.
            raise ConfigurationError(f"{path} is outside of the hub's directory: write a path inside it")
        return config

    async def _process_core_config(self, config: Mapping[str, Any]) -> None:
        given = config.get("homeassistant") or {}
        section = {key: value for key, value in given.items() if key not in _OF_THE_MACHINE}
        try:
            await core_config.async_process_ha_core_config(self.hass, section)
        except Exception as error:
            raise ConfigurationError(f"Invalid config for 'homeassistant': {error}") from None

    async def _set_up(self, domains: Any, config: Mapping[str, Any]) -> None:
        for domain in domains:
            await async_setup_component(self.hass, domain, dict(config))

    def _blueprint_domains(self) -> set[str]:
        texts = [each["yaml"] for each in self._home["blueprints"]]
        texts += [text for name, text in self._home["files"].items() if name.startswith("blueprints/")]
        return {domain for text in texts for domain in _ACTION.findall(text)}

    def _give(self, entity: str, given: Mapping[str, Any], is_restart: bool) -> None:
        if is_restart:
            self.hass.states.async_set(entity, "unavailable", {"restored": True, **abilities(entity)})
        else:
            self._registries.put_in_place(entity, given)
            self._write(entity, given)
        self._simulated[entity] = None

    async def _give_owned(self) -> None:
        """Sets the given states of the home's own helpers, before its automations are loaded."""
        for entity, given in self._given.items():
            if entity in self._owned:
                if given.get("state") is not None and self._has_history:
                    await self.replay(entity, given["state"], {})
                elif given.get("state") is not None:
                    await self.set_helper(entity, given["state"])
                self._registries.put_in_place(entity, given)

    def _write(self, entity: str, given: Mapping[str, Any]) -> None:
        old = self.hass.states.get(entity)
        attributes = _attributes(entity, given.get("attributes") or {})
        state = given.get("state")
        if state is None:
            state = state_of(self.hass, entity, attributes) or (old.state if old else "unknown")
        if len(state) > LONGEST_STATE:
            raise StepError(f"The state of {entity} has {len(state)} characters: a hub keeps {LONGEST_STATE} at most.")
        kept = {} if old is None or old.attributes.get("restored") else kept_of(entity, old.attributes, given)
        zones = zones_of(self.hass, entity, state, attributes)
        shown = self._devices.attributes(entity, state, {**abilities(entity), **kept}, {**zones, **attributes})
        self.hass.states.async_set(entity, state, shown)

    async def set(self, entity: str, given: Mapping[str, Any]) -> None:
        """The step `set`: sets a state, or a helper of the home with the helper's action."""
        domain = entity.split(".")[0]
        if domain in ("automation", "script", "scene"):
            way = f"call: {{action: {domain}.turn_on, target: {{entity_id: {entity}}}}}"
            raise StepError(f"{entity} is the home's own, so that its state is not set: write `{way}`.")
        is_own = entity in self._owned or (entity not in self._simulated and self.hass.states.get(entity) is not None)
        if not is_own:
            self._registries.put_in_place(entity, given)
            self._write(entity, given)
            self._simulated[entity] = None
            return
        self._registries.put_in_place(entity, given)
        if given.get("attributes"):
            raise StepError(f"{entity} is the home's own, so that its attributes are not set: set its state alone.")
        if given.get("state") is not None:
            await self.set_helper(entity, given["state"])

    async def set_helper(self, entity: str, state: str) -> None:
        """Sets a helper of the home with its action, like a user of the hub."""
        domain = entity.split(".")[0]
        service, data = helper_action(domain, state)
        if domain == "sun":
            raise StepError(f"{entity} follows the time of the test: set that with `start` or `at`.")
        if service is None:
            raise StepError(f"{entity} is made by the home, and has no action that sets it: set what it depends on.")
        call = {"entity_id": entity, **data}
        self.record.show(Call(clock.epoch(), f"{domain}.{service}", [entity], data, ()))
        await self.services.perform(domain, service, call, blocking=True, context=ha.Context())

    async def replay(self, entity: str, state: str, attributes: Mapping[str, Any]) -> None:
        """Sets an entity to a recorded state. For a helper of the home, its action is called but not recorded."""
        if not can_replay(entity, state, self._owned):
            return
        if entity not in self._owned:
            self.hass.states.async_set(entity, state, _attributes(entity, attributes))
            return
        present = self.hass.states.get(entity)
        if present is not None and present.state == state:
            return
        domain = entity.split(".")[0]
        # The current definition may lack the recorded option, or have another range.
        with contextlib.suppress(Exception):
            service, data = helper_action(domain, state)
            call = {"entity_id": entity, **data}
            await self.services.perform(domain, str(service), call, blocking=True, context=ha.Context())

    def _on_call(self, call: Call) -> None:
        self.record.on_call(call)

    def _devices_of(self, domain: str, entities: list[str]) -> Iterator[tuple[str, Any]]:
        """The simulated entities on which an action of the domain acts, with their states."""
        for entity in entities:
            state = self.hass.states.get(entity)
            # The hub itself passes no action on to an entity that is unavailable, as devices are after a restart.
            if state is None or entity not in self._simulated or state.state == "unavailable":
                continue
            # An action of `homeassistant` calls the one of the domain, if the domain has it.
            is_passed_on = state.domain in self.hass.config.components or not is_switched_by_hub(state.domain)
            if domain == state.domain or (domain == "homeassistant" and not is_passed_on):
                yield entity, state

    def _on_check(self, domain: str, service: str, data: Mapping[str, Any], entities: list[str]) -> dict[str, str]:
        """The simulated entities that refuse an action, with the reasons."""
        found = ((entity, refusal(service, state, data)) for entity, state in self._devices_of(domain, entities))
        return {entity: problem for entity, problem in found if problem}

    def _on_done(self, domain: str, service: str, data: Mapping[str, Any], entities: list[str], context: Any) -> None:
        """Changes the states of simulated entities after a call."""
        for entity, state in self._devices_of(domain, entities) if self._echo else ():
            try:
                value, reported = echo(service, state, data)
            except (TypeError, ValueError):
                continue  # no schema has checked the data
            value = value[:LONGEST_STATE]
            attributes = self._devices.attributes(entity, value, state.attributes, reported)
            self.hass.states.async_set(entity, value, attributes, context=context)

    def _on_missing(self, action: str, kind: str, missing: str) -> None:
        """Warns of an unknown area, floor or label, unless the files have none at all: the hub may have them."""
        if not self._home[f"{kind}s"]:
            return
        known = ", ".join(sorted(self._registries.ids(kind)))
        self.record.logs.add(f"WARNING {action}: there is no {kind} {missing}: the ids of {kind}s are {known}")

    def refused(self) -> list[dict[str, str]]:
        """The automations, scripts and helpers that the hub did not load, with its messages."""
        issues = issue_registry.async_get(self.hass).issues.values()
        found = []
        for domain in ("automation", "script"):
            for state in sorted(self.hass.states.async_all(domain), key=lambda each: str(each.entity_id)):
                if state.state != "unavailable" or state.attributes.get("restored"):
                    continue
                words = (_issue_error(issue, state.entity_id) for issue in issues)
                message = next((each for each in words if each), "the hub has disabled it")
                found.append({"entity": state.entity_id, "name": state.name, "message": as_text(message)})
        return [*found, *self._missing_helpers()]

    def _missing_helpers(self) -> Iterator[dict[str, str]]:
        entities = entity_registry.async_get(self.hass)
        for helper in self._home["helpers"]:
            domain, item = helper["domain"], helper["item"]
            entity = entities.async_get_entity_id(domain, domain, item["id"])
            state = self.hass.states.get(entity) if entity else None
            if state is None or state.attributes.get("restored"):
                message = "this version of the hub does not take its settings: correct them"
                yield {"entity": f"{domain}.{item['id']}", "name": as_text(item["name"]), "message": message}

    def entities(self) -> frozenset[str]:
        """All entities that have a state."""
        return frozenset(self.hass.states.async_entity_ids())

    async def stop(self) -> None:
        """Stops the hub like a restart: it stores the states to restore, and its timers and tasks end."""
        await self.hass.async_stop(force=True)
        loop = asyncio.get_running_loop()
        for handle in get_scheduled_timer_handles(loop):
            handle.cancel()
        tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _list(section: Any) -> list[Any]:
    return list(section) if isinstance(section, list) else [section] if section else []


def _attributes(entity: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of JSON as a hub has them. It writes 50.0 as 50, and a hub of 2025 requires floats of places."""
    places = {key: float(given[key]) for key in ("latitude", "longitude") if isinstance(given.get(key), int)}
    return as_tuples(entity.split(".")[0], {**given, **places})


def _switch_off(automations: list[Any], disabled: list[str]) -> None:
    for index, each in enumerate(automations):
        if isinstance(each, Mapping) and each.get("id") in disabled:
            automations[index] = {**each, "initial_state": False}


def _issue_error(issue: Any, entity: str) -> str | None:
    values = issue.translation_placeholders or {}
    return values.get("error") if values.get("entity_id") == entity else None
