import { truncate } from '../../../base/truncate';
import type { LogRecord } from '../../../client/connection/api-types';
import type { Redact } from '../../../client/connection/redact';
import type { HubClient } from '../../../client/hub-client';
import { checkConfig } from '../../../client/setup/core';
import { loggedBetween, readLog } from '../../../client/setup/log-records';
import { deliveryInclude } from '../../hub-pod/delivery';
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

/** Files that the config API of the hub writes: an item of theirs is no part of a HubConfiguration. Its own folders may have such names. */
const WRITTEN_BY_HUB = /\b(automations|scenes|scripts)\.yaml\b/;
/** `Automation with alias 'Night' …`, `Script with object id 'night' …`: these name no file. */
const NAMED_ITEM =
  /^(?:Automation|Script) with (?:alias|ID|object id) '(.*?)' (?:could not|failed to|has|is)/;
/** An item whose id another one has: the files of the hub and the delivered ones may have the same for a moment. */
const DUPLICATE = /^Platform \w+ does not generate unique IDs\. ID (.+?) already exists/;
/** A link to the documentation, and what a check says without it. */
const DOCUMENTATION = /, please check the docs at \S+/g;

/** Whose files, and who reads them. */
export interface CheckSubject {
  readonly client: Pick<HubClient, 'rest' | 'connection'>;
  readonly redact: Redact;
  readonly files: Files;
}

/** Does something. Resolves also with the items of the files that the hub left out meanwhile: the lines of its log. */
export async function withLeftOut<T>(
  subject: CheckSubject,
  act: () => Promise<T>,
): Promise<readonly [result: T, leftOut: string]> {
  const before = await readLog(subject.client);
  return [await act(), await leftOutSince(before, subject)];
}

/** The items of the files that the hub has left out since it had this log, without secrets; empty: none. */
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

/** Whether an item of a file has this id: as a value, as the key of a script, or perhaps as a secret. */
function hasId(content: string, id: string): boolean {
  const name = id.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(
    `\\bid["']?\\s*:\\s*(?:!secret|[>|]|["']?${name}["']?\\s*(?:[,}#\\n]|$))|^\\s*["']?${name}["']?\\s*:`,
    'm',
  ).test(content);
}

/** Characters of the check's words in a condition. */
const MAX_PROBLEM_LENGTH = 3_000;
/** Characters of the warnings that are kept. */
const MAX_WARNINGS_LENGTH = 8_000;

/** A problem because of which some of the files are not loaded, for a condition. */
export interface Problem {
  readonly problem: string;
  /** The hub would start, and leave out the item that the problem names. */
  readonly isWarning: boolean;
}

/**
 * Has the hub check its files. Its answer has no word of a bad automation, script or template entity: the hub leaves those out,
 * which only its log says.
 *
 * @param known warnings of the configuration before; undefined: none is new
 * @returns without secrets, the errors with which the hub would not start, the new warnings, and all warnings: the items that
 *   the hub would leave out
 */
export async function checkInHub(subject: CheckSubject, known: string | undefined) {
  const [answer, leftOut] = await withLeftOut(subject, () => checkConfig(subject.client.rest));
  // Redacted before it is cut: half a secret would not be recognised.
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

/** The lines of `text` that `known` does not have. A line number may have moved. */
export function newLines(text: string, known: string): string {
  const before = new Set(known.split('\n').map(withoutLineNumbers));
  const lines = text.split('\n').filter((line) => line.trim() && !before.has(withoutLineNumbers(line)));
  return lines.join('\n');
}

const withoutLineNumbers = (line: string): string => line.replace(/\bline \d+/g, 'line');
