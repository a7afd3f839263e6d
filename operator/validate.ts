import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { OperationalError } from './errors';
import { API_GROUP } from './kinds/group';
import { type Finding, findingsOf, isOurs } from './offline/findings';
import { type Manifest, readManifests, type SyntaxProblem } from './offline/manifests';

// A program of its own in the bundle: the operator does not hold its code in memory.

const USAGE = `Usage: hub-operator validate [--strict] FILE…

Checks the resources of ${API_GROUP} in files of YAML or JSON, without a cluster. A directory stands for all files in it
that end in .yaml, .yml or .json, - for the standard input.

  --strict  a warning fails as well`;

/** What the command prints, and its exit code: 0, or 1 if there is an error. */
export interface Validation {
  readonly output: string;
  readonly code: 0 | 1;
}

/** The arguments, or a file that they name, cannot be read. Its message is for the user. */
export class NotRead extends OperationalError {
  override readonly name = 'NotRead';
}

/**
 * `validate [--strict] FILE…`
 *
 * @throws NotRead
 */
export async function validate(args: readonly string[], input: () => Promise<string>): Promise<Validation> {
  const { positionals, values } = parsed(args);
  if (values.help) return { output: `${USAGE}\n`, code: 0 };
  if (positionals.length === 0)
    throw new NotRead(`cannot validate nothing: name a file or a directory\n\n${USAGE}`);
  const given: (Manifest | SyntaxProblem)[] = [];
  for (const path of positionals) {
    if (path === '-') given.push(...readManifests('stdin', await input()));
    else for (const file of await filesOf(path)) given.push(...(await read(file, file === path)));
  }
  const manifests = given.filter((each) => 'object' in each);
  const unreadable = given.filter((each): each is SyntaxProblem => !('object' in each));
  const findings = await findingsOf(manifests);
  const ours = manifests.filter(isOurs).length;
  const errors = unreadable.length + findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.filter(({ severity }) => severity === 'warning').length + (ours === 0 ? 1 : 0);
  const lines = [
    ...unreadable.map(({ file, line, message }) => `${file}:${line}: error: ${message}`),
    ...findings.map(lineOf),
    ...(ours === 0 ? [`warning: there is no resource of ${API_GROUP} in ${positionals.join(', ')}.`] : []),
    `${count(ours, 'resource')} checked, ${manifests.length - ours} of other kinds ignored: ${count(errors, 'error')}, ${count(warnings, 'warning')}`,
  ];
  return { output: `${lines.join('\n')}\n`, code: errors > 0 || (values.strict && warnings > 0) ? 1 : 0 };
}

function parsed(args: readonly string[]) {
  const options = { strict: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new NotRead(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** The files of a path, in the order of their names. Folders of packages and of tools are left out. */
async function filesOf(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    // What is no YAML before Helm has filled it in.
    const isChart = existsSync(join(path, 'Chart.yaml'));
    const files = await Promise.all(
      entries.map(async (entry) => {
        const { name } = entry;
        if (name.startsWith('.') || name === 'node_modules') return [];
        if (entry.isDirectory()) return isChart && name === 'templates' ? [] : filesOf(join(path, name));
        return /\.(ya?ml|json)$/.test(name) ? [join(path, name)] : [];
      }),
    );
    return files.flat();
  } catch (error) {
    throw notRead(path, error);
  }
}

/** @param named the user has named the file itself */
async function read(file: string, named: boolean): Promise<(Manifest | SyntaxProblem)[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw notRead(file, error);
  });
  const found = readManifests(file, content);
  // A directory may have files of other programs, whose YAML has other rules.
  return named || content.includes(API_GROUP) ? found : found.filter((each) => 'object' in each);
}

function notRead(path: string, error: unknown): NotRead {
  if (error instanceof NotRead) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new NotRead(
    `cannot read ${path}: ${code === 'ENOENT' ? 'there is no such file or directory' : message}`,
  );
}

/** As compilers print it, so that editors find the place. */
function lineOf({ file, line, severity, object, field, message }: Finding): string {
  return `${file}:${line}: ${severity}: ${object}: ${field === undefined ? '' : `${field}: `}${message}`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The standard input. */
export const standardInput = (): Promise<string> => text(process.stdin);
