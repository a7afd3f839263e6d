import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { loader, runnerModules } from '../../cli/test/runner';
import type {
  Answer,
  Case,
  CaseAnswer,
  Expect,
  ExpectedCall,
  ExpectedState,
  Given,
  Home,
  Instant,
  Location,
  Mock,
  Request,
  Step,
  Want,
} from '../../cli/test/protocol';

/** The location of Berlin, where local time in winter is UTC+1. */
export const BERLIN: Location = {
  timezone: 'Europe/Berlin',
  latitude: 52.52,
  longitude: 13.405,
  elevation: 34,
};

export const home = (parts: Partial<Home> = {}): Home => ({
  hub: BERLIN,
  ...{ automations: [], scripts: {}, scenes: [], files: {}, secrets: {} },
  ...{ zones: [], floors: [], labels: [], areas: [], helpers: [], blueprints: [], disabled: [] },
  ...parts,
});

/** A step without its line. `caseOf` sets the line to the place of the step in the case. */
export type Unplaced = Step extends infer Each ? (Each extends Step ? Omit<Each, 'line'> : never) : never;

export interface CaseParts extends Partial<Omit<Case, 'steps'>> {
  readonly steps: readonly Unplaced[];
  readonly hub?: Location;
}

/** Makes a case that starts on a Monday at 12:00 local time, unless `start` is set. */
export const caseOf = (name: string, { steps, hub: _, ...parts }: CaseParts): Case => ({
  name,
  line: 1,
  start: '2026-11-02T12:00:00',
  ...{ given: {}, mock: {}, echo: true, allowWarnings: [] },
  ...parts,
  steps: steps.map((step, index) => ({ ...step, line: index + 1 })),
});

type Plain = string | number | boolean | null | RegExp | readonly Plain[] | { readonly [key: string]: Plain };

/** An expected value as the command line compiles it. */
function want(value: Plain): Want {
  if (typeof value === 'string') return { text: value };
  if (typeof value === 'number') return { number: value };
  if (value instanceof RegExp) return { regex: value.source };
  if (value === null || typeof value === 'boolean') return { exact: value };
  if (Array.isArray(value)) return { list: (value as readonly Plain[]).map(want) };
  return { object: wants(value as Readonly<Record<string, Plain>>) };
}

const wants = (values: Readonly<Record<string, Plain>>): Record<string, Want> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, want(value)]));

interface PlainCall {
  readonly entity?: readonly string[];
  readonly data?: Readonly<Record<string, Plain>>;
  readonly times?: number;
  readonly by?: string;
}

export const call = (action: string, { data, ...parts }: PlainCall = {}): ExpectedCall => ({
  action,
  ...parts,
  ...(data && { data: wants(data) }),
});

export const state = (value: Plain, attributes?: Readonly<Record<string, Plain>>): ExpectedState =>
  attributes ? { state: want(value), attributes: wants(attributes) } : want(value);

export const expectStep = (parts: Partial<Expect>): Unplaced => ({
  expect: { ...{ calls: [], only: false, none: [], states: {}, within: 0 }, ...parts },
});

/** A step that sets states, which are given as texts. */
export const setStep = (states: Readonly<Record<string, string | Given>>): Unplaced => ({
  set: Object.fromEntries(
    Object.entries(states).map(([entity, given]) => [
      entity,
      typeof given === 'string' ? { state: given } : given,
    ]),
  ),
});

export const fireStep = (type: string, data: Readonly<Record<string, unknown>> = {}): Unplaced => ({
  fire: { event_type: type, event_data: data },
});

export const callStep = (action: string, target = {}, data = {}): Unplaced => ({
  call: { action, target, data },
});

export const atStep = (at: Instant): Unplaced => ({ at });

export type { Answer, Case, CaseAnswer, Home, Mock };

interface Run {
  readonly code: number;
  readonly answers: readonly Answer[];
  readonly stderr: string;
  /** The unchanged standard output. */
  readonly output: string;
}

/** Path of the Python in which the sandbox has installed the hub. */
export const hubPython = (): string => join(process.env['HUB_SANDBOX_VENV']!, 'bin', 'python3');

export const requestOf = (
  aHome: Home,
  cases: readonly Case[],
  options: Partial<Request['options']> = {},
  hub?: Location,
): Request => ({
  modules: runnerModules(),
  home: aHome,
  files: [{ path: 'home.hubtest.yaml', ...(hub && { hub }), cases }],
  options: { ...{ coverage: false, timeline: false }, ...options },
});

/** Runs the program as the command line does: a request on standard input, answers on standard output. */
export async function runRequest(request: Request, python = hubPython()): Promise<Run> {
  return new Promise((resolve, reject) => {
    const process = execFile(
      python,
      ['-I', '-c', loader()],
      { maxBuffer: 2 ** 28, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error && typeof error.code !== 'number') return reject(error);
        const answers = stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Answer] : []));
        resolve({ code: Number(error?.code ?? 0), answers, stderr, output: stdout });
      },
    );
    process.stdin!.end(JSON.stringify(request));
  });
}

export const ofType = <Type extends Answer['type']>(
  answers: readonly Answer[],
  type: Type,
): Extract<Answer, { type: Type }>[] =>
  answers.filter((answer): answer is Extract<Answer, { type: Type }> => answer.type === type);

/** Returns each fault as `kind: message`. */
export const faultsOf = (answer: CaseAnswer | undefined): string[] =>
  answer?.faults.map(({ kind, message }) => `${kind}: ${message}`) ?? ['there is no answer'];
