"""A backup agent of a test integration: it keeps the backups of each config entry in a folder."""

import json

from homeassistant.components.backup import AgentBackup, BackupAgent, BackupNotFound
from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED
from homeassistant.core import callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect

DOMAIN = __package__.rpartition(".")[2]


async def async_get_backup_agents(hass, **kwargs):
    return [FolderAgent(hass, entry) for entry in hass.config_entries.async_loaded_entries(DOMAIN)]


def async_register_backup_agents_listener(hass, *, listener, **kwargs):
    # The decorator makes the hub call this in the event loop instead of a thread.
    @callback
    def on_change(*_):
        listener()

    return async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, on_change)


class FolderAgent(BackupAgent):
    domain = DOMAIN

    def __init__(self, hass, entry):
        self.hass = hass
        self.name = entry.title
        self.unique_id = entry.entry_id
        self.folder = hass.config.path(f"elsewhere/{entry.data['host']}")

    async def async_upload_backup(self, *, open_stream, backup, **kwargs):
        content = b"".join([part async for part in await open_stream()])
        await self.hass.async_add_executor_job(self.write, backup, content)

    def write(self, backup, content):
        import os

        os.makedirs(self.folder, exist_ok=True)
        with open(f"{self.folder}/{backup.backup_id}.tar", "wb") as file:
            file.write(content)
        with open(f"{self.folder}/{backup.backup_id}.json", "w") as file:
            json.dump(backup.as_dict(), file)

    async def async_list_backups(self, **kwargs):
        return await self.hass.async_add_executor_job(self.read)

    def read(self):
        from glob import glob

        found = []
        for name in glob(f"{self.folder}/*.json"):
            with open(name) as file:
                found.append(AgentBackup.from_dict(json.load(file)))
        return found

    async def async_get_backup(self, backup_id, **kwargs):
        for backup in await self.async_list_backups():
            if backup.backup_id == backup_id:
                return backup
        raise BackupNotFound(backup_id)

    async def async_download_backup(self, backup_id, **kwargs):
        raise BackupNotFound(backup_id)

    async def async_delete_backup(self, backup_id, **kwargs):
        raise BackupNotFound(backup_id)
