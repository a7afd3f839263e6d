import { type Document, isMap, parseAllDocuments } from 'yaml';
import { type BoundedTask, type BoundedTasks, runTwice } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import { isPlainYaml } from '../../operator/base/plain-yaml';
import { CommandError } from '../command-error';
import { mergeInto } from './merge';
import type { PulledFields } from './pulled-spec';

/** A file with the fields to write into it. */
export interface FileFields {
  readonly file: string;
  readonly text: string;
  readonly kind: string;
  readonly name: string;
  readonly fields: PulledFields;
}

/** @throws CommandError the text has no such resource, is no YAML, or costs more than its length allows */
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

function attempt({ file, text, kind, name, fields }: FileFields): { text: string } | { problem: string } {
  try {
    return { text: withFields(file, text, kind, name, fields) };
  } catch (error) {
    if (error instanceof CommandError) return { problem: error.message };
    throw error;
  }
}

/**
 * The text of a file with other values for fields of the spec of one of its resources. Comments, the order of keys and the other
 * documents stay.
 *
 * @throws CommandError the text has no such resource, or is no YAML
 */
export function withFields(
  file: string,
  text: string,
  kind: string,
  name: string,
  fields: PulledFields,
): string {
  const documents = parseAllDocuments(text, { version: '1.1' }) as readonly Document.Parsed[];
  const document = documents.find((each) => isNamed(each, kind, name));
  if (!document) throw new CommandError(`${file} has no ${kind} ${name}: name the file that has it`);
  const [error] = document.errors;
  if (error) throw new CommandError(`${file}: ${error.message}`);
  const spec = document.get('spec', true);
  if (!isMap(spec)) throw new CommandError(`${file}: the spec of ${kind} ${name} is missing`);
  const values = spec.toJS(document) as Record<string, unknown>;
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) delete values[field];
    else values[field] = value;
  }
  mergeInto(document, spec, values);
  const [start, , end] = document.range;
  const written = document.toString({ lineWidth: 0, indentSeq: !/^( *)[\w"']+:\n\1- /m.test(text) });
  const [before, rest] = [text.slice(0, start), text.slice(end)];
  const isMarked = /^\s*---/.test(text.slice(start));
  return `${before}${isMarked ? written : written.replace(/^---\n/, '')}${rest}`;
}

function isNamed(document: Document, kind: string, name: string): boolean {
  if (document.errors.length > 0) return false;
  const value: unknown = document.toJS();
  if (!isObject(value)) return false;
  const { metadata } = value;
  return value['kind'] === kind && isObject(metadata) && metadata['name'] === name;
}
