import type { LogRecord } from '../../../client/connection/api-types';
import { loggedBetween } from '../../../client/setup/log-records';
import type { Files } from '../generate/config-files';

/**
 * Loggers that report an item of the YAML files which the hub leaves out or disables, in Home Assistant 2026.11: the schemas of
 * all sections (`config.py`), automations and scripts (`components/*\/config.py`), items of `mqtt:` (`mqtt/entity.py`), and
 * platforms whose files cannot be read again (`helpers/reload.py`). At run time they log nothing at ERROR.
 */
const LOGGERS: ReadonlySet<string> = new Set([
  'homeassistant.config',
  'homeassistant.components.automation',
  'homeassistant.components.script',
  'homeassistant.components.mqtt.entity',
  'homeassistant.helpers.reload',
]);

/** Files that the config API of the hub writes: an item of theirs is no part of a HubConfiguration. */
const WRITTEN_BY_HUB = /\b(automations|scenes|scripts)\.yaml\b/;
/** `Automation with alias 'Night' …`, `Script with object id 'night' …`: these name no file. */
const NAMED_ITEM =
  /^(?:Automation|Script) with (?:alias|ID|object id) '(.*?)' (?:could not|failed to|has|is)/;
/** A link to the documentation, and what a check says without it. */
const DOCUMENTATION = /, please check the docs at \S+/g;

/** The lines of the log between two reads that report items of these files which the hub left out. */
export function leftOutBetween(
  before: readonly LogRecord[],
  after: readonly LogRecord[],
  files: Files,
): string[] {
  const texts = loggedBetween(before, after)
    .filter(({ record }) => LOGGERS.has(record.name) && ['ERROR', 'CRITICAL'].includes(record.level))
    .flatMap((each) => each.texts)
    .filter((text) => isOf(files, text));
  return [...new Set(texts.flatMap((text) => text.replace(DOCUMENTATION, '').split('\n')))];
}

function isOf(files: Files, text: string): boolean {
  if (WRITTEN_BY_HUB.test(text)) return false;
  const item = NAMED_ITEM.exec(text)?.[1];
  return item === undefined || Object.values(files).some((content) => content.includes(item));
}
