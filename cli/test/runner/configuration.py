"""The hub's directory for a case, and the parts of its configuration that are simulated."""

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from integrations import folder_of
from services import ENTITY_DOMAINS

# Domains that are set up with their sections of the configuration: they need no network, device, recorder or web
# server. Helpers come first, since the others read their states.
HELPERS = (
    *("counter", "input_boolean", "input_button", "input_datetime", "input_number", "input_select", "input_text"),
    *("schedule", "timer"),
)
OTHERS = ("group", "template", "utility_meter", "tag", "persistent_notification")
PLATFORMS = (
    *("bayesian", "compensation", "derivative", "generic_hygrostat", "generic_thermostat", "group", "integration"),
    *("manual", "min_max", "mold_indicator", "random", "season", "template", "threshold", "time_date", "tod", "trend"),
    *("workday", "worldclock"),
)
# Domains that are set up in another way, or have no effect on a test.
_NOT_LISTED = frozenset(
    (
        *("automation", "backup", "config", "default_config", "energy", "frontend", "history", "homeassistant", "http"),
        *("logbook", "logger", "lovelace", "map", "my", "recorder", "scene", "script", "sun", "system_health", "zone"),
    )
)
_SECRET = re.compile(r"!secret\s+(\"[^\"]*\"|'[^']*'|[^\s,\[\]{}#]+)")
_INCLUDE = re.compile(r"!include\s+(\"[^\"]*\"|'[^']*'|[^\s,\[\]{}#]+)")


class PathError(ValueError):
    """A file of the home would be outside of the hub's directory."""


def write_files(folder: Path, home: Mapping[str, Any]) -> None:
    """Writes the hub's directory: configuration, files, secrets and blueprints, including those that the hub ships."""
    texts = {**home["files"], "configuration.yaml": home.get("configuration") or ""}
    for domain in ("automation", "script", "template"):
        own = folder_of(domain) / "blueprints"
        if own.is_dir():
            # The hub copies its blueprints only if the folder does not exist.
            shutil.copytree(own, folder / "blueprints" / domain / "homeassistant", dirs_exist_ok=True)
    for each in home["blueprints"]:
        _write(folder, f"blueprints/{each['domain']}/{each['path']}", each["yaml"])
    for name, text in texts.items():
        _write(folder, name, text)
    for domain in helper_domains(home):
        items = [_stored(domain, each["item"]) for each in home["helpers"] if each["domain"] == domain]
        _write(folder, f".storage/{domain}", json.dumps({"version": 1, "key": domain, "data": {"items": items}}))
    for name, text in texts.items():
        for included in _names(_INCLUDE, text):
            path = _inside(folder, str(Path(name).parent / included), f"{name} includes {included}, which")
            if not path.exists():
                # Files such as automations.yaml, which the hub's editor writes.
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
    _write(folder, "secrets.yaml", _secrets(home, texts))


def helper_domains(home: Mapping[str, Any]) -> list[str]:
    """The domains of the home's helpers that are not in its configuration."""
    found = {each["domain"] for each in home["helpers"]}
    return [domain for domain in HELPERS if domain in found]


def _stored(domain: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """The item as the hub stores it: the numbers of an `input_number` are floats, which its state shows."""
    floats = ("max", "min", "step") if domain == "input_number" else ()
    return {key: float(value) if key in floats else value for key, value in item.items()}


def _secrets(home: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """The text of secrets.yaml. A secret without a value gets its own name as its value."""
    own = texts.get("secrets.yaml", "")
    known = set(re.findall(r"^['\"]?([^\s'\"#:]+)['\"]?\s*:", own, re.M))
    used = {name for text in texts.values() for name in _names(_SECRET, text)}
    values = {**{name: name for name in sorted(used)}, **home["secrets"]}
    lines = [f"{json.dumps(name)}: {json.dumps(str(value))}\n" for name, value in values.items() if name not in known]
    return "".join([own, "\n" if own else "", *lines])


def _names(pattern: re.Pattern[str], text: str) -> Iterable[str]:
    return (name.strip("'\"") for name in pattern.findall(text))


def _inside(folder: Path, name: str, subject: str | None = None) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise PathError(f"{subject or f'The file {name}'} is outside of the hub's directory: correct its path.")
    return path


def _write(folder: Path, name: str, text: str) -> None:
    path = _inside(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Simulated(NamedTuple):
    """A configuration without the sections that are not simulated, and the names of those sections."""

    config: dict[str, Any]
    helpers: list[str]
    others: list[str]
    unsimulated: list[str]


def simulated(config: Mapping[str, Any]) -> Simulated:
    """Splits a configuration by domains, and sections such as `sensor` by platforms."""
    kept: dict[str, Any] = {}
    unsimulated: set[str] = set()
    for key, section in config.items():
        domain = key.split(" ")[0]
        if domain in ENTITY_DOMAINS:
            items = [item for item in as_list(section) if isinstance(item, Mapping)]
            kept[key] = [item for item in items if item.get("platform") in PLATFORMS]
            unsimulated |= {f"{domain}.{item.get('platform')}" for item in items if item not in kept[key]}
        elif domain in (*HELPERS, *OTHERS) or domain in _NOT_LISTED:
            kept[key] = section
        else:
            unsimulated.add(domain)
    domains = {key.split(" ")[0] for key in kept}
    return Simulated(
        kept,
        [domain for domain in HELPERS if domain in domains],
        [domain for domain in (*OTHERS, *ENTITY_DOMAINS) if domain in domains],
        sorted(unsimulated),
    )


def as_list(section: Any) -> list[Any]:
    """The items of a section that may be a list, a single item, or empty."""
    if not section:
        return []
    return list(section) if isinstance(section, list) else [section]


def with_items(config: Mapping[str, Any], home: Mapping[str, Any], trace: Mapping[str, Any] | None) -> dict[str, Any]:
    """The configuration with the automations, scripts and scenes of the home. With `trace`, their runs are recorded."""
    merged = dict(config)
    merged["automation"] = [*as_list(config.get("automation")), *home["automations"]]
    merged["scene"] = [*as_list(config.get("scene")), *home["scenes"]]
    merged["script"] = {**(config.get("script") or {}), **home["scripts"]}
    if trace is None:
        return merged
    for key, section in merged.items():
        domain = key.split(" ")[0]
        if domain == "automation":
            merged[key] = [_traced(item, f"{key} {index}", trace) for index, item in enumerate(as_list(section))]
        if domain == "script" and isinstance(section, Mapping):
            merged[key] = {name: _with_trace(item, trace) for name, item in section.items()}
    return merged


def _traced(item: Any, place: str, trace: Mapping[str, Any]) -> Any:
    # The hub keeps no traces of an automation without an id.
    return {"id": place, **_with_trace(item, trace)} if isinstance(item, Mapping) else item


def _with_trace(item: Any, trace: Mapping[str, Any]) -> Any:
    return {**item, "trace": dict(trace)} if isinstance(item, Mapping) else item


def named_domains(config: Mapping[str, Any]) -> set[str]:
    """The domains of the actions, triggers and conditions of automations and scripts."""
    found: set[str] = set()
    open_values = [section for key, section in config.items() if key.split(" ")[0] in ("automation", "script")]
    while open_values:
        value = open_values.pop()
        if isinstance(value, Mapping):
            for key in ("action", "condition", "service", "trigger"):
                if isinstance(value.get(key), str) and re.fullmatch(r"[a-z_]+\.\w+", value[key]):
                    found.add(value[key].split(".")[0])
            open_values.extend(value.values())
        elif isinstance(value, list):
            open_values.extend(value)
    return found
