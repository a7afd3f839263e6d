"""The integrations that the hub ships."""

from pathlib import Path

import homeassistant.components as hub_components


def folder_of(domain: str) -> Path:
    """The folder of an integration. It does not exist for one that the hub does not have."""
    return Path(next(iter(hub_components.__path__)), domain)
