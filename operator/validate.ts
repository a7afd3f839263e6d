import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { API_GROUP } from './kinds/group';
import { filesOf, NotRead, read } from './offline/files';
import { type Finding, findingsOf, isOurs } from './offline/findings';
import { type Manifest, readManifests, type SyntaxProblem } from './offline/manifests';

// A program of its own in the bundle: the operator does not hold its code in memory.

const USAGE = `Usage: hub-operator validate [--strict] FILE…

Checks the resources of ${API_GROUP} in files of YAML or JSON, without a cluster. A directory stands for the files in it
that end in .yaml, .yml or .json, - for the standard input. In a directory these are left out: names that begin with a
dot, node_modules, the templates of Helm charts, links to directories.

  --strict  a warning fails as well`;

/** The output of the command, and its exit code: 0, or 1 if there is an error. */
export interface Validation {
  readonly output: string;
  readonly code: 0 | 1;
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

/** As compilers print it, so that editors find the place. */
function lineOf({ file, line, severity, object, field, message }: Finding): string {
  return `${file}:${line}: ${severity}: ${object}: ${field === undefined ? '' : `${field}: `}${message}`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The standard input. */
export const standardInput = (): Promise<string> => text(process.stdin);
