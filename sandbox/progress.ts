import { Listr, PRESET_TIMER } from 'listr2';

/** How progress is shown: updated lines on a terminal, a line per start and end in a log, or not at all. */
export type ProgressMode = 'pretty' | 'plain' | 'silent';

/** Reports the progress of a step in a few words. */
export type Report = (text: string) => void;

interface Step {
  readonly title: string;
  /**
   * Runs the step, and throws when it fails. A returned text, such as a version or a URL, is shown after the
   * title.
   */
  run(report: Report): Promise<string | void>;
}

// Intervals in milliseconds.
const TERMINAL_TICK = 1_000;
// A job looks hung when its log shows nothing for longer than this.
const LOG_TICK = 30_000;

export function defaultProgress(): ProgressMode {
  return process.stdout.isTTY ? 'pretty' : 'plain';
}

/**
 * Runs the steps one after another, or in parallel with `together`, and shows their progress and duration. Rejects with
 * the error of the first step that fails; parallel steps then continue until they or the process end.
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
      const note = await withTicker(step, TERMINAL_TICK, (text) => (task.output = text));
      if (note) task.title = `${step.title}: ${note}`;
    },
  }));
  await new Listr(tasks, {
    concurrent: together,
    // This process handles Ctrl-C and prints the error itself.
    registerSignalListeners: false,
    rendererOptions: { timer: PRESET_TIMER, showErrorMessage: false },
  }).run();
}

async function runLogged(step: Step): Promise<void> {
  const began = Date.now();
  const log = (text: string) => console.log(`${step.title}: ${text}`);
  log('started');
  try {
    const note = await withTicker(step, LOG_TICK, log);
    log(`done in ${elapsed(began)}${note ? `, ${note}` : ''}`);
  } catch (error) {
    log(`failed after ${elapsed(began)}`);
    throw error;
  }
}

/** Runs the step and shows its last report every `everyMs` milliseconds, with the elapsed time. */
async function withTicker(step: Step, everyMs: number, show: (text: string) => void): Promise<string | void> {
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
