import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';

/**
 * `make test`: lint, types and all jest projects one after another, with a count at the end, in the plain line that
 * CI reads: `N passed, N failed`. What cannot run here is named as skipped.
 */

interface Result {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
}

const repository = join(__dirname, '..');
const bin = (name: string) => join(repository, 'node_modules', '.bin', name);
const jestProjects = ['unit', 'schema', 'integration', 'faults'];

async function main(): Promise<number> {
  const results = [
    await check('types', bin('tsc'), ['--noEmit']),
    await check('lint', bin('eslint'), ['.']),
    await check('format', bin('prettier'), ['--check', '--log-level=warn', '.']),
    await jest(),
  ];
  console.log('\n');
  for (const { name, passed, failed, skipped, seconds } of results) {
    console.log(`${name.padEnd(12)} ${passed} passed, ${failed} failed, ${skipped} skipped (${seconds} s)`);
  }
  console.log('skipped: tests on a real node (kubelet and containers): there are none yet');
  const sum = (key: 'passed' | 'failed') => results.reduce((total, result) => total + result[key], 0);
  const failed = sum('failed');
  console.log(`${sum('passed')} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function check(name: string, program: string, args: readonly string[]): Promise<Result> {
  const began = Date.now();
  const ok = (await run(program, args)) === 0;
  console.log(`${name}: ${ok ? 'ok' : 'failed'}`);
  return { name, passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, seconds: since(began) };
}

/**
 * One jest for all projects, so that they share one sandbox. It exits when all is told and torn down: a handle that a
 * test has left open must not hang CI until its time is over.
 */
async function jest(): Promise<Result> {
  const began = Date.now();
  const first = await jestOver(['--selectProjects', ...jestProjects]);
  const failed = [...first].filter(([, { failed }]) => failed > 0).map(([file]) => file);
  // A machine that does something else may be too slow for a promise in seconds. What fails twice has failed.
  const again =
    failed.length > 0 && failed.length <= MOST_AGAIN ? await jestOver(['--runTestsByPath', ...failed]) : [];
  const counts = [...new Map([...first, ...again]).values()];
  const sum = (key: keyof Counts) => counts.reduce((total, each) => total + each[key], 0);
  if (failed.length > 0) console.log(`\nfailed at first, and run twice: ${failed.map(shortened).join(', ')}`);
  // One that ended before it could write a report has failed.
  const missing = counts.length === 0 ? 1 : 0;
  return {
    name: 'jest',
    passed: sum('passed'),
    failed: sum('failed') + missing,
    skipped: sum('skipped'),
    seconds: since(began),
  };
}

/** Test files mostly wait, each for a hub of its own: two at a time keep two cores busy. */
const WORKERS = Math.max(2, Math.floor(availableParallelism() / 2));

/** More files than these do not fail for want of time. */
const MOST_AGAIN = 4;

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: 'passed' | 'failed';
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/** What became of each test file. A file that could not even be loaded counts as one failure. */
async function jestOver(which: readonly string[]): Promise<Map<string, Counts>> {
  const report = join(repository, 'build', 'jest.json');
  await rm(report, { force: true });
  const options = ['--forceExit', `--maxWorkers=${WORKERS}`, '--json', `--outputFile=${report}`];
  const code = await run(bin('jest'), [...options, ...which]);
  const written = await readFile(report, 'utf8').catch(() => undefined);
  if (written === undefined) return new Map();
  const { testResults } = JSON.parse(written) as Report;
  const files = testResults.map(({ name, status, assertionResults }) => {
    const count = (wanted: string) => assertionResults.filter((each) => each.status === wanted).length;
    const failed = count('failed') || (status === 'failed' ? 1 : 0);
    return [name, { passed: count('passed'), failed, skipped: count('pending') }] as const;
  });
  const unexplained = code !== 0 && files.every(([, { failed }]) => failed === 0);
  return new Map([
    ...files,
    ...(unexplained ? [['jest itself', { passed: 0, failed: 1, skipped: 0 }] as const] : []),
  ]);
}

const shortened = (file: string): string => relative(join(repository, '__tests__'), file);

function run(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: repository, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

const since = (began: number): number => Math.round((Date.now() - began) / 1_000);

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
