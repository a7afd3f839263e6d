import { truncate } from '../../../base/truncate';
import type { LogRecord } from '../../../client/connection/api-types';
import type { Redact } from '../../../client/connection/redact';
import type { HubClient } from '../../../client/hub-client';
import { checkConfig } from '../../../client/setup/core';
import { loggedBetween, readLog } from '../../../client/setup/log-records';
import { deliveryInclude } from '../../hub-pod/delivery';
import type { Files } from '../generate/config-files';

/**
 * Loggers that report items of the YAML files that the hub leaves out or disables, in Home Assistant 2026.11:
 * the schemas of all sections (`config.py`), automations and scripts (`components/*\/config.py`), items of
 * `mqtt:` (`mqtt/entity.py`), and platforms whose files cannot be read again (`helpers/reload.py`). At run
 * time these loggers log nothing at level ERROR.
 */
const LOGGERS: ReadonlySet<string> = new Set([
  'homeassistant.config',
  'homeassistant.components.automation',
  'homeassistant.components.script',
  'homeassistant.components.mqtt.entity',
  'homeassistant.helpers.reload',
]);

/**
 * Files that the config API of the hub writes, whose items are not part of a HubConfiguration. A folder of
 * the configuration may contain files with these names.
 */
const WRITTEN_BY_HUB = /\b(automations|scenes|scripts)\.yaml\b/;
/**
 * Messages that name an item but no file: `Automation with alias 'Night' …`, `Script with object id 'night'
 * …`.
 */
const NAMED_ITEM =
  /^(?:Automation|Script) with (?:alias|ID|object id) '(.*?)' (?:could not|failed to|has|is)/;
/**
 * Message about an item with the id of another one. For a moment, the hub's own files and delivered files may
 * contain the same items.
 */
const DUPLICATE = /^Platform \w+ does not generate unique IDs\. ID (.+?) already exists/;
/** A link to the documentation in a logged message, which the same message from a check does not have. */
const DOCUMENTATION = /, please check the docs at \S+/g;

/** The files to check, the hub that reads them, and the redaction of its messages. */
export interface CheckSubject {
  readonly client: Pick<HubClient, 'rest' | 'connection'>;
  readonly redact: Redact;
  readonly files: Files;
}

/**
 * Runs an action and returns its result, together with the lines that the hub logged during it about items
 * that it left out.
 */
export async function withLeftOut<T>(
  subject: CheckSubject,
  act: () => Promise<T>,
): Promise<readonly [result: T, leftOut: string]> {
  const before = await readLog(subject.client);
  return [await act(), await leftOutSince(before, subject)];
}

/**
 * The hub's messages, since it had this log, about items of the files that it left out. Secrets are redacted.
 * Empty if there are none.
 */
export async function leftOutSince(before: readonly LogRecord[], { client, redact, files }: CheckSubject) {
  const texts = loggedBetween(before, await readLog(client))
    .filter(({ record }) => LOGGERS.has(record.name) && ['ERROR', 'CRITICAL'].includes(record.level))
    .flatMap((each) => each.texts)
    .filter((text) => isOf(files, text));
  const lines = texts.flatMap((text) => text.replace(DOCUMENTATION, '').split('\n'));
  return redact([...new Set(lines)].join('\n'));
}

function isOf(files: Files, text: string): boolean {
  const isOwn = Object.keys(files).some((name) => WRITTEN_BY_HUB.test(name) && text.includes(name));
  if (WRITTEN_BY_HUB.test(text) && !isOwn) return false;
  const contents = Object.values(files);
  const duplicate = DUPLICATE.exec(text)?.[1];
  const delivered = deliveryInclude('automation');
  if (duplicate !== undefined && contents.some((content) => content.includes(delivered)))
    return contents.some((content) => hasId(content, duplicate));
  const item = NAMED_ITEM.exec(text)?.[1];
  return item === undefined || contents.some((content) => content.includes(item));
}

/**
 * Reports whether an item of a file has this id: as a value, as the key of a script, or perhaps as a secret.
 */
function hasId(content: string, id: string): boolean {
  const name = id.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(
    `\\bid["']?\\s*:\\s*(?:!secret|[>|]|["']?${name}["']?\\s*(?:[,}#\\n]|$))|^\\s*["']?${name}["']?\\s*:`,
    'm',
  ).test(content);
}

/** Maximum number of characters of the check's result in a condition. */
const MAX_PROBLEM_LENGTH = 3_000;
/** Maximum number of characters of warnings that are recorded. */
const MAX_WARNINGS_LENGTH = 8_000;

/** A problem for a condition, because of which some files or items are not loaded. */
export interface Problem {
  readonly problem: string;
  /** True if the hub would start, but leave out the item that the problem names. */
  readonly isWarning: boolean;
}

/**
 * Makes the hub check its files. Its response does not mention invalid automations, scripts or template
 * entities, which the hub leaves out. These are only in its log.
 *
 * @param known warnings about the former configuration; if undefined, no warning counts as new
 * @returns texts without secrets: the errors with which the hub would not start and the new warnings as
 * `problem`, and all warnings about items that the hub would leave out
 */
export async function checkInHub(subject: CheckSubject, known: string | undefined) {
  const [answer, leftOut] = await withLeftOut(subject, () => checkConfig(subject.client.rest));
  // The text is redacted before it is truncated, since half a secret would not be recognised.
  const redacted = (text: string | null) => subject.redact(text ?? '').trim();
  const lines = new Set([...redacted(answer.warnings).split('\n'), ...leftOut.trim().split('\n')]);
  const warnings = truncate([...lines].filter(Boolean).join('\n'), MAX_WARNINGS_LENGTH);
  const errors = redacted(answer.errors);
  const words = truncate(
    [errors, newLines(warnings, known ?? warnings)].filter(Boolean).join('\n'),
    MAX_PROBLEM_LENGTH,
  );
  const problem: Problem | undefined = words ? { problem: words, isWarning: !errors } : undefined;
  return { problem, warnings };
}

/** The lines of `text` that `known` does not have. Line numbers are ignored, since they may have changed. */
export function newLines(text: string, known: string): string {
  const before = new Set(known.split('\n').map(withoutLineNumbers));
  const lines = text.split('\n').filter((line) => line.trim() && !before.has(withoutLineNumbers(line)));
  return lines.join('\n');
}

const withoutLineNumbers = (line: string): string => line.replace(/\bline \d+/g, 'line');
