import { isObject } from '../../../operator/base/is-object';
import type { Path } from '../../../operator/offline/field-path';
import type { Expect, ExpectedCall, ExpectedState } from '../protocol';
import { shown } from './check';
import { regexIn, regexProblem, wantOf, wantsOf } from './values';

type Values = Readonly<Record<string, unknown>>;

/** The part of the file's compiler that collects problems. */
interface FileCompiler {
  problem(path: Path, message: string): void;
  /** @returns the duration in seconds */
  duration(value: unknown, path: Path, least: number): number;
}

/** Compiles the expectation of a step. */
export function compileExpect(compiler: FileCompiler, value: Values, path: Path): Expect {
  const { calls = [], only = false, none = [], states = {}, within = 0 } = value;
  if (!('calls' in value || only === true || 'none' in value || 'states' in value))
    compiler.problem(
      path,
      'expects nothing: write calls, only: true, none or states; to let time go by, write advance.',
    );
  checkRegexes(compiler, value, path);
  return {
    calls: (calls as readonly unknown[]).map(expectedCall),
    only: only as boolean,
    none: (none as readonly unknown[]).map(expectedCall),
    states: Object.fromEntries(
      Object.entries(states as Values).map(([entity, state]) => [entity, expectedState(state)]),
    ),
    within: compiler.duration(within, [...path, 'within'], 0),
  };
}

function expectedCall(value: unknown): ExpectedCall {
  if (typeof value === 'string') return { action: value };
  const { action, entity, data, times, by } = value as Values;
  return {
    action: action as string,
    ...(entity !== undefined && { entity: [entity as string | readonly string[]].flat() }),
    ...(data !== undefined && { data: wantsOf(data as Values) }),
    ...(times !== undefined && { times: times as number }),
    ...(by !== undefined && { by: by as string }),
  };
}

function expectedState(value: unknown): ExpectedState {
  if (!isObject(value)) return wantOf(value);
  const { state, attributes } = value;
  return {
    ...(state !== undefined && { state: wantOf(state) }),
    ...(attributes !== undefined && { attributes: wantsOf(attributes as Values) }),
  };
}

/** Checks each text between slashes as a regular expression. */
function checkRegexes(compiler: FileCompiler, value: unknown, path: Path): void {
  if (typeof value === 'string') {
    const regex = regexIn(value);
    const problem = regex === undefined ? undefined : regexProblem(regex);
    if (problem !== undefined) compiler.problem(path, `${shown(value)} ${problem}.`);
  } else if (Array.isArray(value)) {
    value.forEach((each, index) => checkRegexes(compiler, each, [...path, index]));
  } else if (isObject(value)) {
    for (const [key, each] of Object.entries(value)) checkRegexes(compiler, each, [...path, key]);
  }
}
