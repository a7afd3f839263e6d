import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { bundled } from '../operator/text-program';
import { repository } from '../sandbox/image/bundle';
import { operatorImage } from '../sandbox/image/description';
import { operatorCommand } from '../sandbox/operator-process';
import { HostileHub, postReviews } from './hostile-peers';
import { hostileTexts } from './hostile-texts';
import type { Figures } from './runtime';

/**
 * Measures the effect of a hostile hub, pod or user on the memory and the time of the operator. The parts
 * that read untrusted input run in a separate process, on the Node.js and with the flags and the environment
 * of the image.
 */

export const hostileScenarios = [
  'managed-rest',
  'external-rest',
  'first-frame',
  'later-frame',
  'kept-lists',
  'webhook',
  'objects',
  'texts',
] as const;
/** Time limit of each scenario in the bench. */
const MOST_SECONDS = 40;
type HostileScenario = (typeof hostileScenarios)[number];

interface HostileFigures {
  /** How many times slower than usual the machine was, at least 1. */
  readonly slowness: number;
  /** Numbers of answers that were read, and of answers that were refused. */
  readonly answered: number;
  readonly refused: number;
  /** Longest time in milliseconds in which the event loop was blocked. */
  readonly longestPause: number;
  /** Highest use of the heap, in bytes. */
  readonly peakHeap: number;
  /** Highest cost of one text: processor time in milliseconds, and heap in bytes. */
  readonly costOfText?: { readonly time: number; readonly heap: number };
}

/**
 * @param seconds after which no further repetition begins
 * @throws Error the process ended; the message is the end of its output
 */
export async function runHostileInput(
  scenario: HostileScenario,
  count: number,
  seconds = Infinity,
): Promise<HostileFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'hostile-input-'));
  const hub = await HostileHub.start(scenario, { withLargest: true });
  try {
    const program = join(directory, 'process.cjs');
    await build({
      entryPoints: [join(__dirname, 'hostile-input-process.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      logLevel: 'error',
    });
    if (scenario === 'texts') await writeTexts(directory, count);
    const [node, ...flags] = operatorCommand();
    const child = spawn(node, [...flags, program, scenario, hub.url, String(count), String(seconds)], {
      env: { ...process.env, ...operatorImage.environment },
    });
    if (scenario === 'webhook') void postTo(child, count, Date.now() + seconds * 1_000);
    return await figuresOf(child);
  } finally {
    hub.stop();
    await rm(directory, { recursive: true });
  }
}

/**
 * Writes the program that parses texts, and the texts. Making the texts takes more memory than an operator
 * has.
 */
async function writeTexts(directory: string, count: number): Promise<void> {
  const program = await bundled(join(repository, 'operator', 'text-tasks.ts'));
  await writeFile(join(directory, 'text-program.cjs'), program);
  let index = 0;
  for (const { shape, text } of hostileTexts(count))
    await writeFile(join(directory, `text-${index++}`), `${shape} ${text}`);
}

async function figuresOf(child: ChildProcessWithoutNullStreams): Promise<HostileFigures> {
  let printed = '';
  let problem = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  child.stderr.on('data', (chunk) => (problem += String(chunk)));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`the process ended with ${code ?? signal}: ${problem.slice(-500)}`);
  return JSON.parse(printed.trim().split('\n').at(-1)!) as HostileFigures;
}

/** Posts to the port that the process prints, then ends the process. */
async function postTo(child: ChildProcessWithoutNullStreams, count: number, end: number): Promise<void> {
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  await postReviews((JSON.parse(line) as { port: number }).port, count, end);
  child.kill('SIGTERM');
}

/** @param count number of repetitions of each scenario, within the time limit */
export async function benchHostileInput(count: number): Promise<Figures> {
  const figures: Record<string, number | string> = { 'repetitions, at most': count };
  for (const scenario of hostileScenarios) {
    console.log(`${scenario}: at most ${MOST_SECONDS} s`);
    const { answered, costOfText, longestPause, peakHeap, refused } = await runHostileInput(
      scenario,
      count,
      MOST_SECONDS,
    );
    figures[`${scenario}: read, refused`] = `${answered}, ${refused}`;
    figures[`${scenario}: longest pause, ms`] = Math.round(longestPause);
    figures[`${scenario}: peak heap, MB`] = Math.round(peakHeap / 1e6);
    if (!costOfText) continue;
    figures[`${scenario}: processor time of the operator for one, ms`] = Math.round(costOfText.time);
    figures[`${scenario}: heap for one, MB`] = Math.round(costOfText.heap / 1e6);
  }
  return figures;
}
