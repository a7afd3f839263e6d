"""Branches of automations and scripts: the paths that a definition has, and those in the hub's own traces."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from homeassistant.components.trace import util as trace_util

# Number of runs after which traces are read and then discarded: each takes tens of kilobytes.
RUNS_BETWEEN_HARVESTS = 250
# Seconds of virtual time between two reads. A run that ends at its conditions causes no event, but has a trace.
HARVEST_INTERVAL = 600
# Traces that the hub stores per automation: more than its runs between two reads, so that no trace is lost.
STORED_TRACES = 2 * RUNS_BETWEEN_HARVESTS


class Coverage:
    """The executed paths of all cases, by the key of a trace: `automation.<id>` or `script.<id>`."""

    def __init__(self) -> None:
        self._hit: dict[str, set[str]] = {}
        self._items: dict[str, tuple[str, str, Mapping[str, Any]]] = {}

    def learn(self, hass: Any) -> None:
        """Records the definitions of a hub that has started, with blueprints expanded."""
        for domain in ("automation", "script"):
            component = hass.data.get(domain)
            for entity in component.entities if component is not None else ():
                is_loaded = entity.available and isinstance(entity.raw_config, Mapping)
                if is_loaded and entity.unique_id:
                    item = (entity.entity_id, entity.unique_id, entity.raw_config)
                    self._items[f"{domain}.{entity.unique_id}"] = item

    async def harvest(self, hass: Any) -> None:
        """Reads the traces of a hub, and discards those of runs that have ended."""
        traces = hass.data.get("trace")
        for domain in ("automation", "script") if traces else ():
            for short in await trace_util.async_list_traces(hass, domain, None):
                key = f"{short['domain']}.{short['item_id']}"
                full = await trace_util.async_get_trace(hass, key, short["run_id"])
                self._hit.setdefault(key, set()).update(_paths_of_run(full.get("trace") or {}))
                if short["state"] == "stopped":
                    _give_up(traces[key], short["run_id"])

    def items(self) -> list[dict[str, Any]]:
        """One item for each automation and script, in the order of their entity ids."""
        return [
            {
                "entity": entity,
                "id": unique_id,
                "total": (total := list(dict.fromkeys(_paths_of(key.split(".", 1)[0], config)))),
                "hit": [path for path in total if path in self._hit.get(key, ())],
            }
            for key, (entity, unique_id, config) in sorted(self._items.items(), key=lambda item: item[1][0])
        ]


def _give_up(bucket: Any, run: str) -> None:
    """Removes a run from a bucket, a dict of runs by id or, since 2026.11, an object with two such dicts."""
    for runs in (getattr(bucket, "runs", bucket), getattr(bucket, "not_triggered", {})):
        runs.pop(run, None)


def _paths_of_run(trace: Mapping[str, Any]) -> Iterator[str]:
    for path, elements in trace.items():
        yield path
        for element in elements:
            result = (element.get("result") or {}).get("result")
            if isinstance(result, bool):
                yield f"{path}={str(result).lower()}"


def _paths_of(domain: str, config: Mapping[str, Any]) -> Iterator[str]:
    if domain == "script":
        yield from _steps(config.get("sequence"), "sequence")
        return
    for index, trigger in enumerate(_triggers(_first(config, "triggers", "trigger"))):
        if _is_enabled(trigger):
            yield f"trigger/{index}"
    for index, condition in enumerate(_list(_first(config, "conditions", "condition"))):
        if _is_enabled(condition):
            yield from (f"condition/{index}=true", f"condition/{index}=false")
    yield from _steps(_first(config, "actions", "action"), "action")


def _triggers(triggers: Any) -> Iterator[Any]:
    """The triggers as a flat list, like the hub's own: a list may contain lists of triggers."""
    for trigger in _list(triggers):
        if isinstance(trigger, Mapping) and "triggers" in trigger:
            yield from _triggers(trigger["triggers"])
        else:
            yield trigger


def _steps(steps: Any, base: str) -> Iterator[str]:
    for index, step in enumerate(_list(steps)):
        path = f"{base}/{index}"
        if not _is_enabled(step):
            continue
        if isinstance(step, str) or "condition" in step:
            yield from (f"{path}=true", f"{path}=false")
            continue
        yield path
        yield from _branches(step, path)


def _branches(step: Mapping[str, Any], path: str) -> Iterator[str]:
    for index, choice in enumerate(_list(step.get("choose"))):
        yield from _steps(choice.get("sequence"), f"{path}/choose/{index}/sequence")
    for name in ("then", "else", "default"):
        yield from _steps(step.get(name), f"{path}/{name}")
    for index, branch in enumerate(_list(step.get("parallel"))):
        is_sequence = isinstance(branch, Mapping) and "sequence" in branch
        yield from _steps(branch["sequence"] if is_sequence else branch, f"{path}/parallel/{index}/sequence")
    yield from _steps((step.get("repeat") or {}).get("sequence"), f"{path}/repeat/sequence")
    yield from _steps(step.get("sequence"), f"{path}/sequence")


def _first(config: Mapping[str, Any], *names: str) -> Any:
    """The value under the first of several names: former names of keys are still allowed."""
    return next(itertools.chain((config[name] for name in names if name in config), (None,)))


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _is_enabled(item: Any) -> bool:
    return not (isinstance(item, Mapping) and item.get("enabled") is False)
