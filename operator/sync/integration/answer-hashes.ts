import { createHash, createHmac } from 'node:crypto';
import type { Answer } from '../../client/entries/forms/answer';
import type { Answers, SubentryAnswers } from './answers';
import { placeOfStep } from './flow/navigator';

/** Hashes of answers by their ids. The choice in a menu counts as an answer. */
export type AnswerHashes = Readonly<Record<string, string>>;

/**
 * Number of hexadecimal digits of a hash. 48 bits do not allow guessing the value, and suffice, since a hash
 * is only compared with the former hash of the same answer.
 */
const LENGTH = 12;

const PREFIX = 'hmac-sha256';

/**
 * Hashes the answers with a random key, so that a reader of the status cannot test guessed values. Equal
 * answers have equal hashes as long as the key stays the same.
 */
export function hashAnswers(answers: Answers, key: string): AnswerHashes {
  const hashes: Record<string, string> = {};
  // The hash does not include the place of the answer: an answer that moves to another step or index is the
  // same answer.
  const add = (id: string, name: string, content: string) => (hashes[id] = hashOf(name, content, key));
  const { configuration, steps, options = [], subentries = [] } = answers;
  const all = [configuration, options, ...steps.map((step) => step.answers)].flat();
  for (const answer of all) add(answer.id, answer.field, contentOf(answer));
  for (const [index, { stepId, menuOption }] of steps.entries())
    if (menuOption !== undefined) add(placeOfStep(index, stepId), `menu ${stepId}`, menuOption);
  for (const subentry of subentries) hashes[subentryId(subentry)] = subentryHash(subentry, key);
  return hashes;
}

export function subentryHash(subentry: SubentryAnswers, key: string): string {
  const content = subentry.answers.map((answer) => [answer.field, contentOf(answer)]);
  return hashOf(subentryId(subentry), JSON.stringify(content.sort()), key);
}

function hashOf(name: string, content: string, key: string): string {
  const hash = createHmac('sha256', key).update(JSON.stringify([name, content]));
  return hash.digest('hex').slice(0, LENGTH);
}

/** The status fields with the answers that the entry has. */
export function recorded(hashes: AnswerHashes, key: string) {
  const sorted = Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1));
  const answerHashes: AnswerHashes = Object.fromEntries(sorted);
  return { configHash: keyedHash(sorted, key), answerHashes };
}

/** Hash of a JSON value, as `hmac-sha256:<key id>:<hex>`. */
export function keyedHash(content: unknown, key: string): string {
  const digest = createHmac('sha256', key).update(JSON.stringify(content)).digest('hex');
  return `${PREFIX}:${keyId(key)}:${digest}`;
}

/** Reports whether a recorded hash was made with this key, so that it can be compared. */
export function isComparable(configHash: string | undefined, key: string): boolean {
  return configHash?.split(':')[1] === keyId(key);
}

/**
 * The recorded hashes, in which answers that moved in the spec have their present ids. An answer has moved if
 * field and value are equal.
 */
export function withMoves(before: AnswerHashes, now: AnswerHashes): AnswerHashes {
  const added = Object.keys(now).filter((id) => before[id] === undefined);
  const moved = Object.entries(before).map(([id, hash]) => {
    const to = now[id] === undefined ? added.findIndex((each) => now[each] === hash) : -1;
    return [to < 0 ? id : added.splice(to, 1)[0]!, hash];
  });
  return Object.fromEntries(moved) as AnswerHashes;
}

/**
 * The hashes that replace recorded ones whose key was lost. Answers that were recorded before count as
 * applied with their present values.
 */
export function withNewKey(before: AnswerHashes, now: AnswerHashes): AnswerHashes {
  const known = Object.entries(now).filter(([id]) => before[id] !== undefined);
  return Object.fromEntries(
    known.map(([id, hash]) => [id, isIncomplete(before[id]) ? incompleteHash(hash) : hash]),
  );
}

/**
 * The hash of a subentry with a value that no form asked for.
 *
 * @param used hash of the subentry without such values; empty if not known
 */
export const incompleteHash = (hash: string, used = ''): string => `!${hash} ${used}`.trimEnd();

/** Reports whether the hash is that of an incomplete subentry with the same answers. */
export const isIncompleteOf = (before: string | undefined, now: string): boolean =>
  before?.split(' ')[0] === incompleteHash(now);

const isIncomplete = (hash: string | undefined): boolean => hash?.startsWith('!') ?? false;

/**
 * The recorded hashes, in which ineffective changes count as applied. Ineffective are answers that an option
 * of the spec overrides, answers of a step that the hub did not show, and values of subentries that no form
 * asked for.
 */
export function withIneffective(
  before: AnswerHashes,
  now: AnswerHashes,
  unshown: readonly string[] = [],
  options: readonly string[] = [],
): AnswerHashes {
  const isIneffective = (id: string): boolean => {
    if (unshown.includes(id.split('.', 2).join('.'))) return true;
    if (isIncomplete(before[id]) && before[id]!.split(' ')[1] === now[id]) return true;
    const { field } = placeOf(id);
    return isOfEntry(id) && field !== undefined && options.includes(field);
  };
  const effective = Object.entries(before).filter(([id]) => !isIneffective(id));
  const others = Object.entries(now).filter(([id]) => isIneffective(id));
  return Object.fromEntries([...effective, ...others]);
}

/** Ids of the answers that were added, changed or removed. */
export function changedAnswers(before: AnswerHashes, now: AnswerHashes): readonly string[] {
  const ids = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...ids].filter((id) => before[id] !== now[id]).sort();
}

export const subentryId = ({ type, title }: { readonly type: string; readonly title: string }): string =>
  `subentries.${type}/${title}`;

/**
 * The part of the spec and the field of an answer, from its id. The answer need not be in the spec any more.
 * The parse relies on step ids having no dot.
 */
export function placeOf(id: string): { readonly part: string; readonly field?: string | undefined } {
  const [, part = '', field] = /^(\w+)(?:\[\d+\]\.[^.]+)?(?:\.(.*))?$/s.exec(id) ?? [];
  return part === 'subentries' ? { part } : { part, field };
}

/**
 * Reports whether an entry is created with the answer. Options and subentries are applied once there is an
 * entry.
 */
export const isOfEntry = (id: string): boolean => /^(configuration|steps)\b/.test(id);

/** A short id of the key, which does not reveal it. */
const keyId = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 8);

function contentOf({ value }: Answer): string {
  switch (value.type) {
    case 'text':
      return `text ${value.text}`;
    case 'json':
      return `json ${JSON.stringify(value.value)}`;
    case 'file':
      return `file ${value.fileName}\n${Buffer.from(value.content).toString('base64')}`;
  }
}
