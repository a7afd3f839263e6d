import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { loader } from '../cli/test/runner';
import type { Answer, Case, Home, Request } from '../cli/test/protocol';
import {
  call,
  caseOf,
  expectStep,
  faultsOf,
  fireStep,
  home,
  ofType,
  requestOf,
  setStep,
  state,
} from '../__tests__/cluster/hub-test';
import { provideHubSoftware } from '../sandbox/hub-software';
import { cpuSecondsOfEnded } from '../__tests__/cluster/cpu-seconds';
import type { Figures } from './runtime';

const FURTHER_CASES = 40;
const HOURS = 48;
const MANY = 200;
const DAYS = 7;
const DAY = 86_400; // seconds
const MEMORY_POLL_INTERVAL = 50; // milliseconds

interface Measured {
  /** Processor time of the whole process, in seconds. */
  readonly seconds: number;
  /** Highest memory use, in MiB. */
  readonly memory: number;
  readonly answers: readonly Answer[];
  readonly output: string;
}

/** Measures the Python program that runs the cases of `kubectl hub test`, with the hub of the sandbox. */
export async function benchHubTest(runs: number): Promise<Figures> {
  const { python, version } = await provideHubSoftware(() => undefined);
  const measure = (cases: readonly Case[], aHome: Home, options: Partial<Request['options']> = {}) =>
    measured(python, requestOf(aHome, cases, options));
  const one = await measure([lampCase(0)], evening(0));
  const more = await measure(
    Array.from({ length: 1 + FURTHER_CASES }, (_, index) => lampCase(index)),
    evening(0),
  );
  const none = await measure([pause(0)], evening(0));
  const hours = await measure([pause(HOURS * 3_600)], evening(0));
  const week = await measure([pause(DAYS * DAY)], evening(MANY), { coverage: true, timeline: true });
  const outputs: string[] = [];
  for (let run = 0; run < runs; run++) {
    const { output } = await measure([lampCase(0), pause(2 * DAY)], evening(20), {
      coverage: true,
      timeline: true,
    });
    outputs.push(output.replaceAll(/"realSeconds":[\d.]+/g, ''));
  }
  return {
    'first result: CPU, s': round(one.seconds),
    'each further case: CPU, s': round((more.seconds - one.seconds) / FURTHER_CASES),
    [`${HOURS} h of 3 automations: CPU, s`]: round(hours.seconds - none.seconds),
    [`${DAYS} days of ${MANY} automations with coverage: CPU, s`]: round(week.seconds),
    [`${DAYS} days of ${MANY} automations: calls`]: ofType(week.answers, 'call').length,
    [`${DAYS} days of ${MANY} automations: peak memory, MiB`]: Math.round(week.memory),
    'peak memory of one case, MiB': Math.round(one.memory),
    [`equal ones of ${runs} runs`]: outputs.filter((output) => output === outputs[0]).length,
    'Home Assistant': version,
    'load of the machine before the end': round(loadavg()[0]!),
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** A home with three automations that are typical of users, and `others` that a time pattern starts. */
function evening(others: number): Home {
  const film = { entity_id: 'input_boolean.film' };
  const porch = { entity_id: 'input_boolean.porch' };
  const turn = (to: string, target: object) => ({ action: `input_boolean.turn_${to}`, target });
  return home({
    configuration: 'input_boolean: {film: {}, porch: {}}\n',
    automations: [
      {
        id: 'porch',
        alias: 'Porch',
        triggers: [{ trigger: 'sun', event: 'sunset', offset: '-00:30:00' }],
        actions: [turn('on', porch), { delay: '02:00:00' }, turn('off', porch)],
      },
      {
        id: 'idle',
        alias: 'Idle',
        triggers: [{ trigger: 'state', ...film, to: 'on', for: '00:45:00' }],
        actions: [turn('off', film)],
      },
      {
        id: 'night',
        alias: 'Night',
        triggers: [{ trigger: 'time', at: '23:00:00' }],
        actions: [turn('on', film)],
      },
      ...Array.from({ length: others }, (_, index) => ({
        id: `other_${index}`,
        alias: `Other ${index}`,
        triggers: [
          { trigger: 'time_pattern', minutes: `/${5 + (index % 20)}` },
          { trigger: 'state', ...film, to: 'on' },
        ],
        conditions: [{ condition: 'state', ...porch, state: 'on' }],
        actions: [{ delay: '00:01:00' }, { action: 'notify.phone', data: { index } }],
      })),
    ],
  });
}

/** A case in which the film starts in the evening and counts as over after 45 minutes without a change. */
const lampCase = (index: number): Case =>
  caseOf(`film ${index}`, {
    given: { 'light.sofa': { state: 'off' } },
    steps: [
      setStep({ 'input_boolean.film': 'on' }),
      fireStep('unrelated'),
      expectStep({ none: [call('input_boolean.turn_off')], within: 44 * 60 }),
      expectStep({
        calls: [call('input_boolean.turn_off', { by: 'automation.idle' })],
        states: { 'input_boolean.film': state('off') },
        within: 120,
      }),
    ],
  });

const pause = (seconds: number): Case => caseOf('pause', { steps: [{ advance: seconds }, expectStep({})] });

async function measured(python: string, request: Request): Promise<Measured> {
  const before = await cpuSecondsOfEnded();
  const child = spawn(python, ['-I', '-c', loader()], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  child.stdin.end(JSON.stringify(request));
  const reading = text(child.stdout);
  let memory = 0;
  while (child.exitCode === null) {
    memory = Math.max(memory, await peakMemory(child.pid!));
    await sleep(MEMORY_POLL_INTERVAL);
  }
  await ended;
  const output = await reading;
  const answers = output.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Answer] : []));
  const faults = ofType(answers, 'case').flatMap((answer) => faultsOf(answer));
  if (faults.length > 0 || ofType(answers, 'failed').length > 0)
    throw new Error(`a case has failed: ${JSON.stringify([faults, ofType(answers, 'failed')])}`);
  return { seconds: (await cpuSecondsOfEnded()) - before, memory, answers, output };
}

/**
 * Returns the highest memory use in MiB. The kernel keeps the peak, so the last reading before the end
 * includes it.
 */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
