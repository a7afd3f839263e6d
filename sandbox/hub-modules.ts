/**
 * The modules that every hub, and the hub's check of its configuration, imports. Each of them takes 2 ms or
 * more, together with the modules that it imports. A hub imports 130 others.
 *
 * To update the list for another version of the hub, end a hub with an `atexit` function that prints
 * `sys.modules`. Then import these names one after the other in a new interpreter, without those that an
 * earlier import has loaded.
 */
export const HUB_MODULES: readonly string[] = [
  'homeassistant.__main__',
  'homeassistant.runner',
  'homeassistant.scripts.check_config',
  ...[
    'ai_task',
    'air_quality.condition',
    'air_quality.trigger',
    'analytics',
    'application_credentials',
    'assist_pipeline',
    'assist_satellite',
    'backup.sensor',
    'camera',
    'climate.condition',
    'counter',
    'date',
    'datetime',
    'geo_location',
    'geo_location.trigger',
    'google_translate.config_flow',
    'hardware',
    'humidifier',
    'image',
    'image_processing',
    'infrared',
    'input_boolean',
    'input_button',
    'input_datetime',
    'input_select',
    'input_text',
    'intent',
    'lawn_mower',
    'llm',
    'map_tiles',
    'marketplace',
    'media_player.intent',
    'radio_frequency',
    'remote',
    'schedule',
    'shopping_list',
    'siren',
    'tag',
    'time',
    'timer',
    'timer.trigger',
    'todo',
    'todo.trigger',
    'weather',
  ].map((name) => `homeassistant.components.${name}`),
  'colorlog',
  'psutil',
];

/**
 * Python that sets in a fork the value that an import reads from the environment: the port on which the hub
 * listens.
 */
export const AFTER_FORK = `
from homeassistant.components.http import config
config._DEFAULT_CONFIG.update(server_port=config.default_server_port(), created_at=config.dt_util.utcnow().isoformat())
config._DEFAULT_CONFIG_LEGACY_PORT.update(created_at=config._DEFAULT_CONFIG["created_at"])
`.trim();
