import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { goBinary } from './go-build';
import { goInstalled } from './go-install';
import { checksModule, lintersModule } from './go-module';
import type { Report } from './progress';

/** A time series with one sample each `interval`. */
export type Series = { readonly metric: string } & (
  | {
      /** Samples in the notation of Prometheus' unit tests of rules: `0+1x10 _ stale`. */
      readonly values: string;
    }
  | { readonly points: readonly (number | null)[] }
);

interface RulesRequest {
  /** Seconds between two samples and between two evaluations of the rules. */
  readonly interval: number;
  readonly series: readonly Series[];
  /** The content of a file of rules, as Prometheus reads it. */
  readonly rules: string;
  /** Time of the last evaluation, in seconds after the first sample. */
  readonly end: number;
  readonly queries?: readonly string[];
}

export interface RulesAnswer {
  /** Every alert that fires at some time, in the order of their beginnings. */
  readonly alerts: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    /** The first and the last evaluation in which the alert fires, in seconds after the first sample. */
    readonly from: number;
    readonly to: number;
  }[];
  /** The results for the expressions of all rules, then of all queries. */
  readonly expressions: readonly {
    readonly text: string;
    /** Number of series in the result of the expression at `end`. */
    readonly results: number;
    readonly selectors: readonly { readonly metric: string; readonly labels: readonly string[] }[];
    /** Labels by which the expression aggregates or joins. */
    readonly labels: readonly string[];
  }[];
}

/** Path of the program that evaluates rules; built when the cache has none. */
export const rulesProgram = (report: Report = () => {}): Promise<string> =>
  goBinary('rules', 'the engine of Prometheus', report, checksModule);

/** Path of the program that runs health checks; built when the cache has none. */
export const luaProgram = (report: Report = () => {}): Promise<string> =>
  goBinary('lua', 'the Lua of Argo CD', report, checksModule);

/**
 * Evaluates alerting rules and queries with the engine of Prometheus.
 * @throws Error a rule or a query is invalid
 */
export async function evaluateRules(request: RulesRequest): Promise<RulesAnswer> {
  const program = await rulesProgram();
  return (await answerOf(program, request)) as RulesAnswer;
}

export interface Health {
  readonly status: string;
  readonly message: string;
}

/**
 * Runs a health check in Lua over objects, as Argo CD does.
 * @throws Error the script is invalid, or fails on an object
 */
export async function argoHealth(script: string, objects: readonly object[]): Promise<Health[]> {
  const program = await luaProgram();
  return (await answerOf(program, { script, objects })) as Health[];
}

interface Conformity {
  /** Number of resources that have a schema and are valid. */
  readonly valid: number;
  readonly findings: readonly {
    readonly file: string;
    readonly kind: string;
    readonly name: string;
    readonly message: string;
  }[];
}

/** Checks files of resources with kubeconform. Kinds without a schema at `location` are left out. */
export async function kubeconform(location: string, files: readonly string[]): Promise<Conformity> {
  const program = await goBinary('kubeconform', 'kubeconform', () => {}, lintersModule);
  return (await answerOf(program, {}, [location, ...files])) as Conformity;
}

export interface ScoreFinding {
  readonly object: string;
  /** The id of the check, such as `container-resources`. */
  readonly check: string;
  readonly message: string;
}

/**
 * Returns what kube-score finds critical or warns of in files of resources. Kinds that kube-score does not
 * know are left out.
 */
export async function kubeScore(files: readonly string[]): Promise<ScoreFinding[]> {
  const folder = await goInstalled(
    {
      name: 'kube-score',
      title: 'kube-score',
      commands: ['github.com/zegl/kube-score/cmd/kube-score'],
      version: 'v1.20.0',
    },
    () => {},
  );
  const options = ['--output-format=json', '--output-version=v2', '--kubernetes-version=v1.33'];
  const objects = (await answerOf(
    join(folder, 'kube-score'),
    {},
    ['score', ...options, ...files],
    [0, 1], // exit code 1: kube-score found something critical
  )) as readonly ScoredObject[];
  return objects.flatMap(({ object_name: object, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade <= WARNING)
      .flatMap(({ check, comments }) =>
        (comments ?? []).map(({ path, summary }) => ({
          object,
          check: check.id,
          message: [path, summary].filter(Boolean).join(': '),
        })),
      ),
  );
}

/** The grades of kube-score are 1 (critical), 5 (warning), 7 (almost) and 10. */
const WARNING = 5;

interface ScoredObject {
  readonly object_name: string;
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
    readonly comments: readonly { readonly path: string; readonly summary: string }[] | null;
  }[];
}

/** Sends JSON to a program's standard input and reads it from its standard output. */
async function answerOf(
  program: string,
  request: object,
  args: readonly string[] = [],
  successes: readonly number[] = [0],
): Promise<unknown> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  // a program that ends before it has read all input reports the failure by its exit code
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(request));
  const exit = new Promise<number | null>((resolve, reject) =>
    child.on('close', resolve).on('error', reject),
  );
  const [code, answer, errors] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  if (!successes.includes(code ?? -1) || answer === '') throw new Error(errors.trim());
  return JSON.parse(answer);
}
