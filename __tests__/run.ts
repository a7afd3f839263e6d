import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import unproven from './unproven.json';

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
  if (!process.env['ALL']) console.log(`skipped, ALL=1 runs them too: ${unproven.join(', ')}`);
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
  const report = join(repository, 'build', 'jest.json');
  const code = await run(bin('jest'), [
    '--forceExit',
    '--selectProjects',
    ...jestProjects,
    '--json',
    `--outputFile=${report}`,
  ]);
  try {
    const {
      numPassedTests: passed,
      numFailedTests,
      numPendingTests: skipped,
      numRuntimeErrorTestSuites,
    } = JSON.parse(await readFile(report, 'utf8')) as Record<
      'numPassedTests' | 'numFailedTests' | 'numPendingTests' | 'numRuntimeErrorTestSuites',
      number
    >;
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    // A jest that ends badly with no failed test has failed all the same.
    return { name: 'jest', passed, failed: failed || (code === 0 ? 0 : 1), skipped, seconds: since(began) };
  } catch {
    return { name: 'jest', passed: 0, failed: 1, skipped: 0, seconds: since(began) }; // it ended before it could write one
  }
}

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
