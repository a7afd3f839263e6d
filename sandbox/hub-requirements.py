"""Prints package requirements of the installed hub, one per line: all requirements of the integrations that every hub
loads, and those of other integrations for packages that are named as arguments."""

import json
import pathlib
import re
import sys

import homeassistant
from homeassistant import bootstrap

LOADED_BY_TESTS = {"recorder", "history", "logbook", "energy", "mqtt", "workday", "sun"}


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement).group().lower()


components = pathlib.Path(homeassistant.__file__).parent / "components"
manifests = {path.parent.name: json.loads(path.read_text()) for path in components.glob("*/manifest.json")}

loaded = set()
missing = {*bootstrap.DEFAULT_INTEGRATIONS, *bootstrap.CORE_INTEGRATIONS, *LOADED_BY_TESTS}
while missing:
    domain = missing.pop()
    loaded.add(domain)
    missing |= set(manifests.get(domain, {}).get("dependencies", [])) - loaded

named = set(sys.argv[1:])
required = {
    requirement
    for domain, manifest in manifests.items()
    for requirement in manifest.get("requirements", [])
    if domain in loaded or name_of(requirement) in named
}
print("\n".join(sorted(required)))
