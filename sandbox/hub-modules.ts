/**
 * What every hub imports, and the hub's check of its configuration: these modules, and those that they import in turn.
 * Each of them takes 2 ms or more; a hub imports 130 others.
 *
 * For another version of the hub: end one with an `atexit` function that prints `sys.modules`, and import these names one
 * after the other in a new interpreter, but for those that are there by then.
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

/** Repeats in a fork what an import reads from the environment and from the clock: the port on which the hub listens. */
export const AFTER_FORK = `
from homeassistant.components.http import config
config._DEFAULT_CONFIG.update(server_port=config.default_server_port(), created_at=config.dt_util.utcnow().isoformat())
config._DEFAULT_CONFIG_LEGACY_PORT.update(created_at=config._DEFAULT_CONFIG["created_at"])
`.trim();
