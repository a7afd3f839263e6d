import { Listr, PRESET_TIMER } from 'listr2';

/** How steps are shown: living lines for a terminal, a line per start and end for logs, or not at all. */
export type ProgressMode = 'pretty' | 'plain' | 'silent';

/** Says how far a step is, in a few words. */
export type Report = (text: string) => void;

export interface Step {
  readonly title: string;
  /** Throws when it fails. A returned text is shown with the title: where it came from, where it listens. */
  run(report: Report): Promise<string | void>;
}

// Milliseconds.
const TERMINAL_TICK = 1_000;
// A log that is silent for longer looks like a hung job.
const LOG_TICK = 30_000;

export function defaultProgress(): ProgressMode {
  return process.stdout.isTTY ? 'pretty' : 'plain';
}

/**
 * Runs the steps one after another, or `together`, and shows what runs, how far it is and for how long. Rejects with the
 * error of the first step that fails; steps beside it run on until they or the process end.
 */
export async function runSteps(
  steps: readonly Step[],
  mode: ProgressMode,
  { together = false } = {},
): Promise<void> {
  if (mode === 'pretty') return runLive(steps, together);
  const run = mode === 'plain' ? runLogged : (step: Step) => step.run(() => {});
  if (together) await Promise.all(steps.map(run));
  else for (const step of steps) await run(step);
}

async function runLive(steps: readonly Step[], together: boolean): Promise<void> {
  const tasks = steps.map((step) => ({
    title: step.title,
    task: async (_context: unknown, task: { title: string; output: string }) => {
      const note = await ticking(step, TERMINAL_TICK, (text) => (task.output = text));
      if (note) task.title = `${step.title}: ${note}`;
    },
  }));
  await new Listr(tasks, {
    concurrent: together,
    // Ctrl-C belongs to the caller, who has things to stop; and so does telling the error.
    registerSignalListeners: false,
    rendererOptions: { timer: PRESET_TIMER, showErrorMessage: false },
  }).run();
}

async function runLogged(step: Step): Promise<void> {
  const began = Date.now();
  const log = (text: string) => console.log(`${step.title}: ${text}`);
  log('started');
  try {
    const note = await ticking(step, LOG_TICK, log);
    log(`done in ${elapsed(began)}${note ? `, ${note}` : ''}`);
  } catch (error) {
    log(`failed after ${elapsed(began)}`);
    throw error;
  }
}

/** Runs the step; shows what it last reported again and again, with the time that it has taken so far. */
async function ticking(step: Step, everyMs: number, show: (text: string) => void): Promise<string | void> {
  const began = Date.now();
  let last = 'working';
  const tick = setInterval(() => show(`${last}, ${elapsed(began)}`), everyMs);
  try {
    return await step.run((text) => (last = text));
  } finally {
    clearInterval(tick);
  }
}

function elapsed(began: number): string {
  const seconds = (Date.now() - began) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return seconds < 60
    ? `${seconds.toFixed(0)} s`
    : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
