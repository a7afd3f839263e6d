"""The actions of the hub: each call is recorded, and calls of services that the hub lacks are answered here."""

import asyncio
import difflib
import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant import core as ha
from homeassistant.exceptions import HomeAssistantError, ServiceNotFound
from homeassistant.helpers import entity_registry
from homeassistant.helpers import target as hub_target
from homeassistant.helpers.trace import trace_id_get

from clock import clock
from values import items_of

TARGET_KEYS = ("entity_id", "device_id", "area_id", "floor_id", "label_id")
MOST_CONTEXTS = 20_000
# The class has another name since 2026.
TargetSelection = getattr(hub_target, "TargetSelection", None) or hub_target.TargetSelectorData


@dataclass(slots=True)
class Call:
    """A call of an action. `at`: epoch seconds.

    `by`: entity id of the automation or script whose run led to the call. `script`: that of the script with the action,
    which an automation may have called.
    """

    at: float
    action: str
    entities: list[str]
    data: dict[str, Any]
    contexts: tuple[str, ...]
    by: str | None = None
    script: str | None = None


class Authors:
    """The automation or script to which a context belongs. The hub may report it only after the first call of a run."""

    def __init__(self) -> None:
        self._entities: OrderedDict[str, str] = OrderedDict()

    def add(self, context: str, entity: str) -> None:
        # A script that an automation calls has the context of that automation, which remains the author.
        self._entities.setdefault(context, entity)
        if len(self._entities) > MOST_CONTEXTS:
            self._entities.popitem(last=False)

    def complete(self, call: Call) -> Call:
        if call.by is None:
            call.by = next((self._entities[each] for each in call.contexts if each in self._entities), None)
        return call


class UnknownAction(Exception):
    """A mock for an action that the hub does not have. The message is a sentence."""


class Services(ha.ServiceRegistry):  # type: ignore[misc]
    """The service registry of a hub in which only some domains are set up."""

    def __init__(self, hass: Any, mocks: Mapping[str, Mapping[str, Any]], on_call: Callable[[Call], None]) -> None:
        super().__init__(hass)
        self._hub = hass
        self._mocks = mocks
        self._on_call = on_call
        self.on_done: Callable[[str, str, Mapping[str, Any], list[str], Any], None] | None = None
        # Called before an action without a mock. It returns the entities of the target that refuse it, with reasons.
        self.on_check: Callable[[str, str, Mapping[str, Any], list[str]], dict[str, str]] | None = None
        # Called with the action, the kind `area`, `floor` or `label`, and the id in a target that the home does not
        # have.
        self.on_missing: Callable[[str, str, str], None] | None = None
        # Called with the message of an error before a mock raises it.
        self.on_raise: Callable[[str], None] | None = None

    def check_mocks(self) -> None:
        """Raises UnknownAction."""
        for action in self._mocks:
            # A mock also stands for an action of a custom integration, whose domain may be similar to one of the hub's.
            if self._is_set_up(action) and (problem := self.problem_of(action)):
                raise UnknownAction(f"mock has {action}, {problem}")

    def problem_of(self, action: str) -> str | None:
        """Why no call of the action succeeds, as the end of a sentence. Actions of other integrations are unknown."""
        domain, service = action.lower().split(".", 1)
        if self._is_set_up(action):
            known = ", ".join(sorted(self.async_services_for_domain(domain))) or "none"
            return None if self.has_service(domain, service) else f"which is no action of {domain}: it has {known}."
        if action not in self._mocks and (intended := intended_domain(domain)):
            return f"which no integration has: did you mean {intended}.{service}?"
        return None

    def _is_set_up(self, action: str) -> bool:
        return action.split(".", 1)[0].lower() in self._hub.config.components

    async def async_call(
        self,
        domain: str,
        service: str,
        service_data: dict[str, Any] | None = None,
        blocking: bool = False,
        context: Any = None,
        target: dict[str, Any] | None = None,
        return_response: bool = False,
    ) -> Any:
        """A call by the home: recorded, then performed."""
        data = {**(service_data or {}), **(target or {})}
        contexts = (context.id, context.parent_id) if context else ()
        entities = self.targets(domain, service, data)
        self._on_call(
            Call(
                clock.epoch(),
                f"{domain}.{service}".lower(),
                entities,
                {key: value for key, value in data.items() if key not in TARGET_KEYS},
                tuple(each for each in contexts if each),
                script=self._running_script(),
            )
        )
        return await self.perform(domain, service, data, blocking, context, return_response, entities)

    def _running_script(self) -> str | None:
        """Entity id of the script that the present task runs, from the key of its trace."""
        domain, _, item = (trace_id_get() or ("",))[0].partition(".")
        entities = entity_registry.async_get(self._hub)
        return entities.async_get_entity_id("script", "script", item) if domain == "script" else None

    async def perform(
        self,
        domain: str,
        service: str,
        data: dict[str, Any],
        blocking: bool = True,
        context: Any = None,
        return_response: bool = False,
        entities: list[str] | None = None,
    ) -> Any:
        """A call that is not recorded. `entities`: the entities of its target, if they are known."""
        domain, service = domain.lower(), service.lower()
        mock = self._mocks.get(f"{domain}.{service}")
        is_known = self.has_service(domain, service)
        if entities is None:
            entities = self.targets(domain, service, data)
        refused = self.on_check(domain, service, data, entities) if mock is None and self.on_check else {}
        if mock is None and is_known:
            result = await super().async_call(domain, service, dict(data), blocking, context, None, return_response)
        else:
            if mock is None and domain in self._hub.config.components:
                raise ServiceNotFound(domain, service)
            if mock is None and (intended := intended_domain(domain)):
                raise MistypedAction(domain, service, intended)
            result = await self._stand_in(domain, service, data, mock or {}, blocking, context)
        if self.on_done:
            self.on_done(domain, service, data, [each for each in entities if each not in refused], context)
        # As in the hub, the other entities have acted.
        for problem in refused.values():
            raise HomeAssistantError(problem)
        return {} if return_response and result is None else result

    async def _stand_in(
        self, domain: str, service: str, data: dict[str, Any], mock: Mapping[str, Any], blocking: bool, context: Any
    ) -> Any:
        """The result of an action that is not simulated, or that the test mocks."""
        known = self.async_services_for_domain(domain).get(service)
        if known is not None and known.schema:
            known.schema(dict(data))
        event = {"domain": domain, "service": service, "service_data": data}
        self._hub.bus.async_fire("call_service", event, context=context)
        if blocking and mock.get("takes"):
            await asyncio.sleep(mock["takes"])
        if mock.get("raises") is not None:
            if self.on_raise:
                self.on_raise(mock["raises"])
            raise HomeAssistantError(mock["raises"])
        return mock.get("response")

    def supports_response(self, domain: str, service: str) -> Any:
        is_mocked = f"{domain}.{service}".lower() in self._mocks
        if is_mocked or not self.has_service(domain, service):
            return ha.SupportsResponse.OPTIONAL
        return super().supports_response(domain, service)

    def targets(self, domain: str, service: str, data: Mapping[str, Any]) -> list[str]:
        """The entities to which the hub resolves the target of a call, and those that the target names."""
        selection = {key: data[key] for key in TARGET_KEYS if data.get(key)}
        named = items_of(selection.get("entity_id"))
        if named == ["all"]:
            return sorted(self._hub.states.async_entity_ids(domain))
        if not selection:
            return []
        if named:
            selection["entity_id"] = named
        try:
            found = hub_target.async_extract_referenced_entity_ids(self._hub, TargetSelection(selection))
        except Exception:
            return sorted({each for each in named if each != "none"})
        for kind in ("area", "floor", "label"):
            for missing in sorted(getattr(found, f"missing_{kind}s")):
                if self.on_missing:
                    self.on_missing(f"{domain}.{service}", kind, missing)
        # In an area, a service of a domain of entities acts only on entities of that domain.
        is_of_entities = domain in ENTITY_DOMAINS
        indirect = {each for each in found.indirectly_referenced if not is_of_entities or each.startswith(f"{domain}.")}
        return sorted({each for each in named if each != "none"} | set(found.referenced) | indirect)


# Domains of entities whose services are known without an integration. They are set up without entities, for their
# schemas. Other domains need the web server.
ENTITY_DOMAINS = (
    *("alarm_control_panel", "binary_sensor", "button", "climate", "cover", "fan", "humidifier", "lawn_mower", "light"),
    *("lock", "number", "select", "sensor", "siren", "switch", "text", "vacuum", "valve", "water_heater"),
)

# Further domains whose actions automations call. No custom integration has a similar name.
_OTHER_DOMAINS = (
    *("automation", "camera", "conversation", "counter", "group", "homeassistant", "input_boolean", "input_button"),
    *("input_datetime", "input_number", "input_select", "input_text", "media_player", "notify"),
    *("persistent_notification", "remote", "rest_command", "scene", "schedule", "script", "shell_command", "timer"),
)
_DOMAINS = (*ENTITY_DOMAINS, *_OTHER_DOMAINS)


class MistypedAction(ServiceNotFound):  # type: ignore[misc]
    """An action of a domain with a name similar to one of the hub's. Other domains may be custom integrations."""

    def __init__(self, domain: str, service: str, intended: str) -> None:
        super().__init__(domain, service)
        self._intended = intended

    def __str__(self) -> str:
        name = f"{self.domain}.{self.service}"
        intended = f"{self._intended}.{self.service}"
        return f"Action {name} not found: did you mean {intended}? If a custom integration has it, mock {name}"


@functools.cache
def intended_domain(domain: str) -> str | None:
    """The hub's domain of which this one is probably a misspelling; None if there is none."""
    return None if domain in _DOMAINS else next(iter(difflib.get_close_matches(domain, _DOMAINS, 1, 0.8)), None)
