"""Settings of the web server that a hub of 2026.8 or later keeps in `.storage/http` and starts with.

A hub that listens at another port, with TLS or at chosen addresses is reached neither by the probes of its pod nor by
the operator, so that nothing could set it back. A volume of another installation and a backup bring such settings.
"""

import glob
import json
import os
from pathlib import Path
from typing import Any

TLS = ("ssl_certificate", "ssl_key", "ssl_peer_certificate")
EVERYWHERE = {"0.0.0.0", "::"}
LISTENING = "0A"


def heal(config: Path, port: int) -> list[str]:
    """Returns the settings that were set back. The file is kept as `.storage/http.before-hub-operator`.

    Settings on trial are left alone: the hub gives them up by itself.
    """
    path = config / ".storage" / "http"
    stored = read(path)
    settings = confirmed(stored)
    changed = cut_off(settings, port)
    if changed:
        for key in changed:
            del settings[key]
        settings["server_port"] = port
        replace(copy_of(path), path.read_bytes())
        replace(path, json.dumps(stored).encode())
    return changed


def listens_elsewhere(config: Path, port: int) -> bool:
    """Whether a hub runs in this container with settings that are set back, or were by now."""
    path = config / ".storage" / "http"
    found = [confirmed(read(path)), confirmed(read(copy_of(path)))]
    return any(cut_off(settings, port) and listens(settings.get("server_port", port)) for settings in found)


def read(path: Path) -> Any:
    """None where there is none, as in an older hub. What cannot be read is none to the hub."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def confirmed(stored: Any) -> dict[str, Any]:
    data = stored.get("data") if isinstance(stored, dict) else None
    # Until 2026.7 the file had no others.
    settings = data.get("stable", data) if isinstance(data, dict) else None
    return settings if isinstance(settings, dict) else {}


def cut_off(settings: dict[str, Any], port: int) -> list[str]:
    """The settings with which the hub is not reached by plain HTTP at this port."""
    found = [key for key in TLS if settings.get(key) is not None]
    if settings.get("server_port", port) != port:
        found.append("server_port")
    hosts = settings.get("server_host")
    if isinstance(hosts, list) and hosts and not EVERYWHERE.intersection(map(str, hosts)):
        found.append("server_host")
    return found


def listens(port: int) -> bool:
    """Whether a process of this container listens at the port. In the network of the node, others may as well."""
    sockets = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:] if os.path.exists(table) else ():
            _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
            if state == LISTENING and int(local.rsplit(":", 1)[1], 16) == port:
                sockets.add(f"socket:[{inode}]")
    return bool(sockets) and any(target_of(link) in sockets for link in glob.iglob("/proc/[0-9]*/fd/*"))


def target_of(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""  # the process has ended


def copy_of(path: Path) -> Path:
    return path.with_name(path.name + ".before-hub-operator")


def replace(path: Path, content: bytes) -> None:
    """At any time the path has either the old or the new content."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
