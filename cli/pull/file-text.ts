import { type BoundedTask, type BoundedTasks, runTwice } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import { isPlainYaml } from '../../operator/base/plain-yaml';
import { syntaxMessage } from '../../operator/offline/syntax-messages';
import { CommandError } from '../command-error';
import { type Place, withSpecFields } from '../yaml/change';
import { NotWritable } from '../yaml/print';
import { asKubectl, valueOf } from '../yaml/readings';
import type { PulledFields } from './pulled-spec';

/** A file with the fields to write into it. */
export interface FileFields {
  readonly file: string;
  readonly text: string;
  readonly kind: string;
  readonly name: string;
  /** The namespace of the resource; absent if any namespace in the file matches. */
  readonly namespace?: string | undefined;
  readonly fields: PulledFields;
}

/**
 * @throws CommandError the text lacks the resource, is not YAML, or exceeds the limits of time or memory for
 * reading
 */
export async function withFieldsBounded(texts: BoundedTasks, given: FileFields): Promise<string> {
  const read = await runTwice(texts, withFieldsTask, given, '');
  if (read.type === 'ended')
    throw new CommandError(
      `${given.file} takes more ${read.exceeded} to read than a file may: write its anchors, aliases and merges out, or split it`,
    );
  if ('problem' in read.output) throw new CommandError(read.output.problem);
  return read.output.text;
}

export const withFieldsTask: BoundedTask<FileFields, { text: string } | { problem: string }> = {
  name: 'withFields',
  run: attempt,
  inPlace: (given) => (isPlainYaml(given.text) ? attempt(given) : undefined),
};

function attempt(given: FileFields): { text: string } | { problem: string } {
  try {
    return { text: withFields(given) };
  } catch (error) {
    if (error instanceof CommandError) return { problem: error.message };
    throw error;
  }
}

/**
 * The text of a file in which some fields of the spec of one resource have new values.
 *
 * @throws CommandError the text lacks the resource, or is not YAML
 */
export function withFields(given: FileFields): string {
  const { file, text, fields } = given;
  const place = placeOf(given);
  try {
    return withSpecFields(text, place, fields);
  } catch (error) {
    if (error instanceof NotWritable) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}

/** @throws CommandError */
function placeOf({ file, text, kind, name, namespace }: FileFields): Place {
  const documents = asKubectl(text);
  const isNamed = (value: unknown) =>
    isObject(value) &&
    value['kind'] === kind &&
    isObject(value['metadata']) &&
    value['metadata']['name'] === name &&
    [undefined, namespace ?? value['metadata']['namespace']].includes(value['metadata']['namespace']);
  for (const [document, each] of documents.entries()) {
    const value = valueOf(each);
    const item =
      isObject(value) && Array.isArray(value['items']) ? value['items'].findIndex(isNamed) : undefined;
    const found = item === undefined || item < 0 ? value : (value as { items: unknown[] }).items[item];
    if (!isNamed(found)) continue;
    if (!isObject((found as { spec?: unknown }).spec))
      throw new CommandError(`${file}: the spec of ${kind} ${name} is missing`);
    return found === value || item === undefined ? { document } : { document, item };
  }
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error) throw new CommandError(`${file}: ${syntaxMessage(error)}`);
  throw new CommandError(`${file} has no ${kind} ${name}: name the file that has it`);
}
