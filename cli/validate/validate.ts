import type { BoundedTasks } from '../../operator/base/bounded-task';
import { API_GROUP } from '../../operator/kinds/group';
import { filesOf, isTestFile, read } from '../../operator/offline/files';
import { type Finding, findingsOf, inOrder, isOurs } from '../../operator/offline/findings';
import { type Manifest, readManifestsWithin, type SyntaxProblem } from '../../operator/offline/manifests';
import { type ExitCode, exitCodes } from '../exit-codes';
import { count } from '../output';
import type { LookUp } from './references';
import { readTestFile } from '../test/file/test-file';

export interface ValidateOptions {
  /** Whether warnings cause a failure too. */
  readonly strict?: boolean;
  /** Name of the Hub in whose hub the names are looked up. */
  readonly hub?: string;
}

/**
 * The output of the command, its result as data, and its exit code, which is negative if there is an error.
 */
export interface Validation {
  readonly output: string;
  readonly code: ExitCode;
  readonly result: {
    readonly checked: number;
    readonly testFiles: number;
    readonly findings: readonly (Finding | (SyntaxProblem & { readonly severity: 'error' }))[];
    /** Sentences about the look-up of names in a hub. Absent if there was none. */
    readonly notes?: readonly string[];
  };
}

/**
 * Checks the resources and the tests in files.
 *
 * @param paths files, directories, or `-` for the standard input
 * @param texts reads the files' contents
 * @param lookUp looks names up in a hub
 * @throws NotRead
 */
export async function validate(
  paths: readonly string[],
  { strict = false }: ValidateOptions,
  input: () => Promise<string>,
  texts: BoundedTasks,
  lookUp?: (manifests: readonly Manifest[]) => Promise<LookUp>,
): Promise<Validation> {
  const { manifests, unreadable } = await manifestsIn(paths, input, texts);
  const tests = await findingsOfTests(paths, texts);
  const offline = await findingsOf(manifests, texts);
  const inHub = await lookUp?.(manifests);
  const notes = inHub?.notes ?? [];
  const findings = [...inOrder([...offline, ...(inHub?.findings ?? [])], manifests), ...tests.findings];
  const ours = manifests.filter(isOurs).length;
  const isEmpty = ours === 0 && tests.checked === 0;
  const errors = unreadable.length + findings.filter(({ severity }) => severity === 'error').length;
  const warnings =
    findings.filter(({ severity }) => severity === 'warning').length + notes.length + (isEmpty ? 1 : 0);
  const lines = [
    ...unreadable.map(({ file, line, message }) => `${file}:${line}: error: ${message}`),
    ...findings.map(lineOf),
    ...notes.map((note) => `warning: ${note}`),
    ...(isEmpty ? [`warning: there is no resource of ${API_GROUP} in ${paths.join(', ')}.`] : []),
    `${count(ours, 'resource')}${tests.checked === 0 ? '' : ` and ${count(tests.checked, 'test file')}`} checked, ${manifests.length - ours} of other kinds ignored: ${count(errors, 'error')}, ${count(warnings, 'warning')}`,
  ];
  const fails = errors > 0 || (strict && warnings > 0);
  const code = fails ? exitCodes.negative : exitCodes.success;
  const syntax = unreadable.map((each) => ({ ...each, severity: 'error' as const }));
  return {
    output: `${lines.join('\n')}\n`,
    code,
    result: {
      checked: ours,
      testFiles: tests.checked,
      findings: [...syntax, ...findings],
      ...(inHub && { notes }),
    },
  };
}

/** The resources in the files that contain no tests, and the places that are not readable. @throws NotRead */
async function manifestsIn(
  paths: readonly string[],
  input: () => Promise<string>,
  texts: BoundedTasks,
): Promise<{ readonly manifests: readonly Manifest[]; readonly unreadable: readonly SyntaxProblem[] }> {
  const given: (Manifest | SyntaxProblem)[] = [];
  for (const path of paths.filter((each) => !isTestFile(each))) {
    if (path === '-') given.push(...(await readManifestsWithin(texts, 'stdin', await input())));
    else for (const file of await filesOf(path)) given.push(...(await read(file, file === path, texts)));
  }
  return {
    manifests: given.filter((each) => 'object' in each),
    unreadable: given.filter((each): each is SyntaxProblem => !('object' in each)),
  };
}

/** The errors in the test files of the paths. */
async function findingsOfTests(
  paths: readonly string[],
  texts: BoundedTasks,
): Promise<{ readonly checked: number; readonly findings: readonly Finding[] }> {
  const findings: Finding[] = [];
  let checked = 0;
  for (const path of paths.filter((each) => each !== '-'))
    for (const file of (await filesOf(path, isTestFile)).filter(isTestFile)) {
      checked += 1;
      const result = await readTestFile(file, file === path, texts);
      if ('findings' in result) findings.push(...result.findings);
    }
  return { checked, findings };
}

/** A finding in the format of compilers, so that editors find its place. */
function lineOf({ file, line, severity, object, field, message }: Finding): string {
  return `${file}:${line}: ${severity}: ${object}: ${field === undefined ? '' : `${field}: `}${message}`;
}
