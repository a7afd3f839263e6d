import type { ChildProcess } from 'node:child_process';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { availableParallelism, setPriority, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { cacheRoot } from '../sandbox/cache';
import { removeRemains } from '../sandbox/real-node';
import { whyNoRealNode } from '../sandbox/real-node/requirements';
import { whyNoNodeSoftware } from '../sandbox/real-node/software';
import { errorLine, formatError } from '../sandbox/sandbox-error';
import { faulty, killed, noCluster, notRun, type Outcome, resultsSoFar } from './runner/node-outcome';
import { HUB_VERSION, NEWEST_HUB } from '../sandbox/hub-software';
import { lacking, optionsWithout, reasons } from './runner/newer-features';
import { endGroupsWithThis, isInterrupted, spawnGroup } from './runner/process-groups';
import { seed } from './seed';

/**
 * `make test`: runs types, lint, format and all jest projects, each test once. The last line has the count
 * that CI reads: `N passed, N failed`. Tests that did not run are listed as skipped.
 *
 * Tests that need a cluster mostly wait, each test file for its own hub, so many of them run in parallel.
 * Checks that only compute run beside them at a low priority and fill the gaps.
 *
 * `--quick` leaves out the tests that need hubs. `--node` runs only the tests on a real node, `--with-node`
 * runs them after the others. `FILES=pattern` runs only test files whose path matches. `HUB=version` runs the
 * tests with a hub, with that version of Home Assistant.
 */

interface Result {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  /** Full names of the tests. */
  readonly skipped: readonly string[];
  /** Failures outside of tests that no other output explains. */
  readonly failures?: readonly string[];
  readonly files: readonly { readonly name: string; readonly seconds: number }[];
  readonly seconds: number;
}

const repository = join(__dirname, '..');
const bin = (name: string) => join(repository, 'node_modules', '.bin', name);
const cache = (name: string) => join(repository, 'build', 'cache', name);
const GIB = 2 ** 30;
/** Whether tests that take many minutes run too. */
const isLong = process.env['LONG'] === '1';

/**
 * Three workers for each core, since most test files wait; with two, a quarter of the processors is idle. A
 * test file needs up to 1.2 GB for one or two hubs, an operator and jest's worker. The cluster needs 2 GB.
 */
const CLUSTER_WORKERS = Math.max(
  2,
  Math.min(3 * availableParallelism(), 12, Math.floor((totalmem() / GIB - 3) / 1.2)),
);
/** Number of workers for unit tests that run beside the tests in the cluster. */
const UNIT_WORKERS = Math.max(1, availableParallelism() - 1);

/** Features that the hub of HUB lacks. */
const missing = lacking(HUB_VERSION);

async function main(args: readonly string[]): Promise<number> {
  const pattern = process.env['FILES'];
  // All processes use the same seed for random values.
  process.env['SEED'] = String(seed);
  // Trades memory for processor time: kubectl, and even more the API server, collect their garbage less
  // often.
  process.env['GOGC'] ??= '300';
  if (totalmem() > 12 * GIB) process.env['HUB_SANDBOX_GOGC'] ??= '800';
  process.env['TEST_DURATIONS'] = join(cacheRoot(), 'test-durations.json');
  const began = Date.now();
  if (args.includes('--node')) return report([await nodeTests(pattern)], since(began));
  const runners = pattern
    ? [files(pattern)]
    : HUB_VERSION !== NEWEST_HUB
      ? [clusterTests(['integration'], CLUSTER_WORKERS)]
      : args.includes('--quick')
        ? [
            staticChecks(['--cache', '--cache-strategy=content', `--cache-location=${cache('eslint')}`]),
            // The unit tests take the longest, and use all cores that the other checks leave.
            unitTests(availableParallelism()),
            // Schema tests never wait, so more processes than cores would only cost start time.
            clusterTests(['schema'], availableParallelism(), { HUB_SANDBOX_HUBS: 'false' }),
          ]
        : [checksThenUnitTests(), clusterTests(['schema', 'integration', 'faults'], CLUSTER_WORKERS)];
  const results = (await Promise.all(runners)).flat();
  // Tests on a real node run afterwards, since both together would need more memory than most machines have.
  if (args.includes('--with-node'))
    results.push(await nodeTests(pattern, isLong ? undefined : began + TOTAL_TIMEOUT));
  else console.log('skipped: real node: make test-node runs its tests');
  return report(results, since(began));
}

const MINUTE = 60_000;
/**
 * Time limit in milliseconds for the tests on a real node: many times their duration, with or without those
 * of LONG=1.
 */
const NODE_TIMEOUT = (isLong ? 180 : 60) * MINUTE;
/**
 * Time limit in milliseconds for the programs and images of the node, which the first run builds and
 * downloads.
 */
const NODE_BUILD_TIMEOUT = 60 * MINUTE;
/**
 * Time limit in milliseconds for all tests including those on a real node. CI ends a run after 90 minutes, as
 * a failure.
 */
const TOTAL_TIMEOUT = 80 * MINUTE;
/**
 * In milliseconds. With less time left, the tests on a real node are not started. They take 15 minutes on a
 * busy machine.
 */
const NODE_LEAST = 25 * MINUTE;

const tooLate = `all tests may take ${TOTAL_TIMEOUT / MINUTE} min, and less than ${NODE_LEAST / MINUTE} are left`;

/**
 * @param end time limit in milliseconds since 1970. Tests that are not done by then are skipped, and all are
 * skipped if the machine cannot provide the cluster. Without a limit both are failures.
 */
async function nodeTests(pattern: string | undefined, end?: number): Promise<Result> {
  const began = Date.now();
  const without = (outcome: Outcome): Result => ({
    name: 'real node',
    ...outcome,
    files: [],
    seconds: since(began),
  });
  const isAsked = end === undefined;
  const spare = () => (end ?? Infinity) - Date.now() - NODE_LEAST;
  try {
    const obstacle = await whyNoRealNode();
    if (obstacle !== undefined) return without(notRun(obstacle));
    if (spare() < 0) return without(notRun(tooLate));
    const missing = await whyNoNodeSoftware('plain', Math.min(NODE_BUILD_TIMEOUT, spare()));
    if (missing !== undefined) return without(noCluster(missing, isAsked));
  } catch (error) {
    console.error(formatError(error));
    return without(faulty);
  }
  const timeout = Math.min(NODE_TIMEOUT, (end ?? Infinity) - Date.now());
  const { result, outcome } = await nodeJest(pattern, timeout, isAsked);
  return outcome ? without(outcome) : result;
}

/**
 * Runs jest, and kills it after `timeout` milliseconds.
 * @returns the result, with the reason if jest did not run to its end
 */
async function nodeJest(
  pattern: string | undefined,
  timeout: number,
  isAsked: boolean,
): Promise<{ result: Result; outcome?: Outcome }> {
  const began = Date.now();
  const [obstacle, soFar] = ['node-obstacle.txt', 'node-results.jsonl'].map((name) =>
    join(repository, 'build', name),
  ) as [string, string];
  for (const file of [obstacle, soFar]) await rm(file, { force: true });
  const selection = pattern === undefined ? [] : [`--testPathPatterns=${pattern}`];
  const result = await jest('real node', ['--config=jest.node.config.mjs', ...selection], {
    timeout,
    environment: { HUB_NODE_OBSTACLE: obstacle, TEST_RESULTS_SO_FAR: soFar },
  });
  if (result.files.length > 0) return { result };
  const isKilled = Date.now() - began >= timeout;
  const read = (file: string) => readFile(file, 'utf8').catch(() => '');
  const reason = await read(obstacle);
  if (reason === '' && !isKilled) return { result };
  const idle = await stat(soFar).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => timeout,
  );
  await removeRemains().catch((error: unknown) => console.log(`left behind: ${errorLine(error)}`));
  return {
    result,
    outcome:
      reason !== ''
        ? noCluster(reason, isAsked)
        : killed(resultsSoFar(await read(soFar)), inMinutes(timeout), inMinutes(idle), isAsked),
  };
}

/** Runs these checks one after another, in the gaps that the tests in the cluster leave. */
async function checksThenUnitTests(): Promise<Result[]> {
  return [...(await staticChecks()), ...(await unitTests(UNIT_WORKERS))];
}

/**
 * Runs the static checks one after another.
 * @param lintOptions such as a cache, which misses an error in a file if only its imports have changed; that
 * is good enough for a quick run
 */
async function staticChecks(lintOptions: readonly string[] = []): Promise<Result[]> {
  return [
    await check('types', bin('tsc'), ['--noEmit', '--incremental', '--tsBuildInfoFile', cache('types.json')]),
    await check('lint', bin('eslint'), [...lintOptions, '.']),
    await check('format', bin('prettier'), [
      '--check',
      '--log-level=warn',
      '--cache',
      '--cache-strategy=content',
      `--cache-location=${cache('prettier.json')}`,
      '.',
    ]),
    await check('lint of Python', bin('tsx'), [join('sandbox', 'python-lint.ts')]),
    await check('lint of workflows', bin('tsx'), [join('sandbox', 'workflow-lint.ts')]),
  ];
}

async function unitTests(workers: number): Promise<Result[]> {
  return [await jest('unit', [`--maxWorkers=${workers}`, '--selectProjects', 'unit'], { inGaps: true })];
}

async function clusterTests(
  projects: readonly string[],
  workers: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Result[]> {
  const options = [`--maxWorkers=${workers}`, '--selectProjects', ...projects];
  return [await jest(projects.join(', '), [...options, ...optionsWithout(missing)], { environment })];
}

async function files(pattern: string): Promise<Result[]> {
  const options = [`--maxWorkers=${CLUSTER_WORKERS}`, `--testPathPatterns=${pattern}`];
  return [await jest(pattern, [...options, ...optionsWithout(missing)])];
}

async function check(name: string, program: string, args: readonly string[]): Promise<Result> {
  const began = Date.now();
  const ok = (await run(program, args, { inGaps: true })) === 0;
  console.log(`${name}: ${ok ? 'ok' : 'failed'}`);
  const [passed, failed] = ok ? [1, 0] : [0, 1];
  return { name, passed, failed, skipped: [], files: [], seconds: since(began) };
}

interface JestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: 'passed' | 'failed';
    /** Milliseconds since 1970. */
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/**
 * Runs jest once. jest exits when everything is reported and torn down, since a handle that a test has left
 * open must not block CI. A test file that could not be loaded counts as one failure, and so does a jest that
 * ends without a report.
 */
async function jest(name: string, options: readonly string[], how: RunOptions = {}): Promise<Result> {
  const began = Date.now();
  const output = join(repository, 'build', `jest-${name.replace(/\W+/g, '-')}.json`);
  await mkdir(join(repository, 'build'), { recursive: true });
  await rm(output, { force: true });
  const args = ['--forceExit', '--json', `--outputFile=${output}`, ...options];
  const code = await run(bin('jest'), args, how);
  const written = await readFile(output, 'utf8').catch(() => undefined);
  const { testResults } = written === undefined ? { testResults: [] } : (JSON.parse(written) as JestReport);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = (status: string) => tests.filter((test) => test.status === status);
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = named('failed').length + broken.length;
  // The run failed outside of the tests, or there were no tests: a pattern that matches nothing must not look
  // like success.
  const unexplained = failed === 0 && (code !== 0 || testResults.length === 0) ? 1 : 0;
  return {
    name,
    passed: named('passed').length,
    failed: failed + unexplained,
    skipped: [...named('pending'), ...named('todo')].map(({ fullName }) => fullName),
    files: testResults.map(({ name: path, startTime, endTime }) => ({
      name: relative(join(repository, '__tests__'), path),
      seconds: Math.round((endTime - startTime) / 1_000),
    })),
    seconds: since(began),
  };
}

function report(results: readonly Result[], seconds: number): number {
  console.log('\n');
  for (const { name, passed, failed, skipped, seconds } of results)
    console.log(
      `${name.padEnd(28)} ${passed} passed, ${failed} failed, ${skipped.length} skipped (${seconds} s)`,
    );
  for (const name of results.flatMap(({ skipped }) => skipped)) console.log(`skipped: ${name}`);
  for (const reason of reasons(missing)) console.log(`skipped with Home Assistant ${HUB_VERSION}: ${reason}`);
  for (const line of results.flatMap(({ failures = [] }) => failures)) console.log(`failed: ${line}`);
  const slowest = results
    .flatMap(({ files }) => files)
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 5);
  if (slowest.length > 0)
    console.log(`slowest: ${slowest.map(({ name, seconds }) => `${name} ${seconds} s`).join(', ')}`);
  const sum = (key: 'passed' | 'failed') => results.reduce((total, result) => total + result[key], 0);
  console.log(`${seconds} s; the same random values again: SEED=${seed}`);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0 ? 0 : 1;
}

interface RunOptions {
  /** Whether the program runs at a low priority, and its output is shown after its end. */
  readonly inGaps?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number;
}

/** Runs a program. Resolves with its exit code. */
function run(
  program: string,
  args: readonly string[],
  { inGaps = false, environment = {}, timeout }: RunOptions = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    if (isInterrupted()) return; // no program is started when this process is about to end
    const child = spawnGroup(program, args, {
      cwd: repository,
      env: { ...process.env, ...environment },
      stdio: ['ignore', inGaps ? 'pipe' : 'inherit', inGaps ? 'pipe' : 'inherit'],
      ...(timeout !== undefined && { timeout, killSignal: 'SIGKILL' as const }),
    });
    if (inGaps) lower(child);
    const printed: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => void printed.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (isInterrupted()) return;
      process.stdout.write(Buffer.concat(printed));
      resolve(code ?? 1);
    });
  });
}

/**
 * A priority with about half the share of a core. With much less, unit tests miss the deadlines of the
 * client, which are 10 s.
 */
const LOWER_PRIORITY = 3;

/** Lowers the priority of a program and of all processes that it starts. */
function lower({ pid }: ChildProcess): void {
  if (pid !== undefined) setPriority(pid, LOWER_PRIORITY);
}

const inMinutes = (milliseconds: number): number => Math.round(milliseconds / MINUTE);
const since = (began: number): number => Math.round((Date.now() - began) / 1_000);

endGroupsWithThis();
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
