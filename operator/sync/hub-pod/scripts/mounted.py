"""Reads the files that a pod mounts of its configuration and its secrets.

Files of folders have escaped keys in the ConfigMap, as operator/sync/configuration/generate/file-keys.ts writes them. A
large configuration comes in several ConfigMaps, which a kubelet may exchange at different moments: none is read before
all of them belong together.
"""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

Files = dict[str, bytes]

PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
ESCAPES = {"-": "--", "/": "-s", " ": "-b"}
# Key of configuration.yaml beside parts.
MAIN_OF_PARTS = "-configuration.yaml-p"
# Seconds in which the parts of a configuration come together. A kubelet reads them again each minute and a half.
LONGEST_WAIT = 150


class OtherPart(Exception):
    """A part is not there, or is that of another content."""


class Mounted(NamedTuple):
    """What is mounted at one moment."""

    files: Files
    content: dict[str, str] | None
    # The mounted files that have other names than these.
    paths: dict[str, Path]


class Mounts(NamedTuple):
    """The directories of the configuration, of its parts and of the secrets."""

    configuration: Path
    parts: Path
    secrets: Path

    def places(self, mounted: Mounted) -> Callable[[str], Path]:
        def place(name: str) -> Path:
            directory = self.secrets if name == "secrets.yaml" else self.configuration
            return mounted.paths.get(name, directory / name)

        return place

    def now(self) -> Mounted:
        """No file of the configuration where its parts do not come together."""
        end = time.monotonic() + LONGEST_WAIT
        while True:
            try:
                found = self._read()
                # A kubelet may exchange the files while they are read.
                if self._read() == found:
                    return found
            except OtherPart as error:
                if time.monotonic() > end:
                    print(f"{error}, for {LONGEST_WAIT} seconds: the configuration is left out")
                    return Mounted(files_in(self.secrets), None, {})
                time.sleep(0.5)

    def _read(self) -> Mounted:
        configuration = self.configuration
        try:
            content = {"configuration": (configuration / ".content-hash").read_text().strip()}
            paths = paths_in(configuration, self.parts, content["configuration"])
            files = {name: path.read_bytes() for name, path in paths.items()} or files_in(configuration)
            values = files_in(self.secrets)
        except FileNotFoundError:
            return Mounted(files_in(configuration) | files_in(self.secrets), None, {})
        with contextlib.suppress(KeyError, TypeError, ValueError, yaml.YAMLError):
            content["secrets"] = str(yaml.safe_load(values["secrets.yaml"])["hub_operator_hash"])
        return Mounted(files | values, content, paths)


def bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def read_json(path: Path) -> Any:
    """None where there is none, or one that a power loss has cut off."""
    try:
        return json.loads(bytes_of(path) or b"null")
    except ValueError:
        return None


def texts_in(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def files_in(directory: Path) -> Files:
    # A mounted volume contains links to hidden directories; only plain names are content.
    if not directory.is_dir():
        return {}
    paths = [path for path in sorted(directory.iterdir()) if path.name[0] not in ".-" and path.is_file()]
    return {path.name: path.read_bytes() for path in paths}


def are_plain(names: Iterable[str]) -> bool:
    return all(PLAIN.fullmatch(name) for name in names)


def paths_in(directory: Path, parts: Path, content: str) -> dict[str, Path]:
    """The mounted files of this content by their names; empty: its keys are the names.

    Beneath it may be another ConfigMap in the other form.
    """
    stored = read_json(directory / ".files")
    if not isinstance(stored, dict) or stored.get("content") != content:
        return {}
    digests = texts_in(stored.get("parts"))
    for index, digest in enumerate(digests):
        part = parts / escaped(f"hub-operator/part-{index}.yaml")
        if bytes_of(part) != f"{json.dumps(digest)}\n".encode():
            raise OtherPart(f"part {index} of the configuration is not there, or that of another content")
    # A person may have changed the ConfigMap: nothing is linked outside of the hub's directory.
    names = [name for name in texts_in(stored.get("names")) if are_plain(name.replace(" ", "_").split("/"))]
    if not digests:
        return {name: directory / escaped(name) for name in names}
    main = {"configuration.yaml": directory / MAIN_OF_PARTS}
    return {name: parts / escaped(name) for name in names} | main


def escaped(name: str) -> str:
    return "-" + re.sub("[-/ ]", lambda found: ESCAPES[found[0]], name)
