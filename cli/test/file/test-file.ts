import { isUtf8 } from 'node:buffer';
import type { BoundedTasks } from '../../../operator/base/bounded-task';
import { isObject } from '../../../operator/base/is-object';
import { fieldOf, type Path } from '../../../operator/offline/field-path';
import { bytesOf } from '../../../operator/offline/files';
import type { Finding } from '../../../operator/offline/findings';
import { lineAt } from '../../../operator/offline/lines';
import { oneLine } from '../../output';
import { checkTestFile, type Problem } from './check';
import { compileTestFile, type TestFile } from './compile';
import { readTestText } from './read';

/** The cases of a file, or the errors that make it unusable. */
type CheckedFile = { readonly file: TestFile } | { readonly findings: readonly Finding[] };

/**
 * Reads and checks a test file.
 *
 * @param path path as the user wrote it, for messages
 * @param named whether the user has named the file itself, and no directory
 * @throws NotRead
 */
export async function readTestFile(path: string, named: boolean, texts: BoundedTasks): Promise<CheckedFile> {
  const content = await bytesOf(path, named);
  if ('problem' in content) return { findings: [{ ...of(path), line: 1, message: content.problem }] };
  if (!isText(content)) return { findings: [{ ...of(path), line: 1, message: NO_TEXT }] };
  return checkTestText(path, content.toString('utf8'), texts);
}

const of = (file: string) => ({ severity: 'error' as const, file, object: 'test file' });

const NO_TEXT =
  'The file is no text in UTF-8, as YAML is: write it with a text editor, and begin it with hubtest: v1.';

/** Whether the content is text. YAML has no control characters other than tabs and line breaks. */
const isText = (content: Buffer): boolean =>
  isUtf8(content) && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(content.toString('latin1'));

/** Like {@link readTestFile}, for the content of a file. */
export async function checkTestText(
  path: string,
  content: string,
  texts: BoundedTasks,
): Promise<CheckedFile> {
  const read = await readTestText(texts, content);
  if ('message' in read) return { findings: [{ ...of(path), ...read }] };
  const { value, lines } = read;
  const problems = checkTestFile(value);
  const compiled =
    problems.length > 0 ? problems : compileTestFile(path, value as Record<string, unknown>, lines);
  if (!isProblems(compiled)) return { file: compiled };
  const findings = compiled.map(({ path: field, message }) => ({
    severity: 'error' as const,
    file: path,
    line: lineAt(lines, field),
    object: caseOf(value, field),
    ...(field.length > 0 && { field: oneLine(fieldOf(field)) }),
    message: oneLine(message),
  }));
  return { findings: findings.sort((a, b) => a.line - b.line) };
}

const isProblems = (compiled: TestFile | readonly Problem[]): compiled is readonly Problem[] =>
  Array.isArray(compiled);

/** Names the case to which a field belongs. */
function caseOf(value: unknown, [first, index]: Path): string {
  const tests = isObject(value) ? value['tests'] : undefined;
  const test: unknown = first === 'tests' && Array.isArray(tests) ? tests[Number(index)] : undefined;
  const name = isObject(test) ? test['name'] : undefined;
  return typeof name === 'string' && name !== '' ? `test “${oneLine(name)}”` : 'test file';
}
