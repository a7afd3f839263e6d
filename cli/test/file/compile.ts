import { isObject } from '../../../operator/base/is-object';
import type { Path } from '../../../operator/offline/field-path';
import { lineAt, type Lines, sourceAt } from '../../../operator/offline/lines';
import type { Case, CaseFile, Given, Location, Mock, Step } from '../protocol';
import { type Problem, shown } from './check';
import { compileExpect } from './expect';
import { inexactNumbers, instantOf, localTime, regexProblem, secondsOf } from './values';

/** The cases of a test file, with its secrets. */
export interface TestFile extends CaseFile {
  readonly secrets: Readonly<Record<string, string>>;
}

/** Default start of a case. It is in January, when clocks do not change. */
const DEFAULT_START = '2026-01-15T12:00:00';
/** Default for the seconds that a hub is down during a restart. */
const DEFAULT_DOWN = 30;
/** Longest step in seconds: more than a year. */
const LONGEST_STEP = 367 * 86_400;

type Values = Readonly<Record<string, unknown>>;

/**
 * Compiles the value of a test file, which the schema has accepted, to the input of the Python program.
 * @returns the file or its problems
 */
export function compileTestFile(path: string, value: Values, lines: Lines): TestFile | readonly Problem[] {
  const compiler = new Compiler(lines);
  const file = compiler.file(path, value);
  return compiler.problems.length > 0 ? compiler.problems : file;
}

/** Compiles one file. Each method takes a value and its path in the file. */
class Compiler {
  readonly problems: Problem[] = [];

  constructor(private readonly lines: Lines) {}

  file(path: string, value: Values): TestFile {
    const { hub, secrets = {}, tests } = value;
    const cases = (tests as readonly Values[]).map((each, index) => this.case(each, ['tests', index], value));
    this.uniqueNames(tests as readonly Values[]);
    for (const at of inexactNumbers(value, []))
      if (!this.keepsCharacters(at))
        this.problem(at, 'is beyond the numbers that keep all digits: quote it.');
    return {
      path,
      ...(isObject(hub) && { hub: this.location(hub) }),
      secrets: this.texts(secrets as Values, ['secrets']),
      cases,
    };
  }

  problem(path: Path, message: string): void {
    this.problems.push({ path, message });
  }

  /** A string, or a number with its characters as written. */
  text(value: unknown, path: Path): string {
    return typeof value === 'number' ? (sourceAt(this.lines, path) ?? String(value)) : String(value);
  }

  /** @returns the duration in seconds */
  duration(value: unknown, path: Path, least = Number.MIN_VALUE): number {
    const seconds = secondsOf(value as string | number) ?? 0;
    if (seconds < least) this.problem(path, `${shown(value)} is too short: write more than 0.`);
    if (seconds > LONGEST_STEP) this.problem(path, `${shown(value)} is longer than 367 days: shorten it.`);
    return seconds;
  }

  regexes(values: unknown, path: Path): readonly string[] {
    const all = (values ?? []) as readonly string[];
    all.forEach((each, index) => {
      const problem = regexProblem(each);
      if (problem !== undefined) this.problem([...path, index], `${shown(each)} ${problem}.`);
    });
    return all;
  }

  private location(hub: Values): Location {
    const { timezone, latitude, longitude } = hub;
    if ((latitude === undefined) !== (longitude === undefined))
      this.problem(['hub'], 'has one of latitude and longitude: write both, or none.');
    if (timezone !== undefined && !isTimezone(timezone as string))
      this.problem(
        ['hub', 'timezone'],
        `${shown(timezone)} is no time zone: write one such as Europe/Berlin.`,
      );
    return hub;
  }

  private case(value: Values, path: Path, file: Values): Case {
    const { name, start, given, mock, allowWarnings, steps } = value;
    const compiled = (steps as readonly Values[]).map((each, index) =>
      this.step(each, [...path, 'steps', index]),
    );
    if (!compiled.some((each) => 'expect' in each))
      this.problem([...path, 'steps'], 'have no expect, so that the case cannot fail: add one.');
    return {
      name: name as string,
      line: lineAt(this.lines, path),
      start: this.start(start, [...path, 'start']) ?? this.start(file['start'], ['start']) ?? DEFAULT_START,
      given: { ...this.given(file['given'], ['given']), ...this.given(given, [...path, 'given']) },
      mock: { ...this.mocks(file['mock'], ['mock']), ...this.mocks(mock, [...path, 'mock']) },
      echo: file['echo'] !== false,
      allowWarnings: [
        ...this.regexes(file['allowWarnings'], ['allowWarnings']),
        ...this.regexes(allowWarnings, [...path, 'allowWarnings']),
      ],
      steps: compiled,
    };
  }

  private uniqueNames(tests: readonly Values[]): void {
    const lines = new Map<string, number>();
    tests.forEach(({ name }, index) => {
      const line = lines.get(name as string);
      if (line !== undefined)
        this.problem(
          ['tests', index, 'name'],
          `${shown(name)} is the name of the case in line ${line}, too: choose another.`,
        );
      else lines.set(name as string, lineAt(this.lines, ['tests', index, 'name']));
    });
  }

  private start(value: unknown, path: Path): string | undefined {
    if (value === undefined) return undefined;
    const start = localTime(value as string);
    if (start === undefined) this.problem(path, `${shown(value)} is no day of the calendar: correct it.`);
    return start;
  }

  private given(values: unknown, path: Path): Readonly<Record<string, Given>> {
    return Object.fromEntries(
      Object.entries((values ?? {}) as Values).map(([entity, value]) => [
        entity,
        this.state(value, [...path, entity]),
      ]),
    );
  }

  private state(value: unknown, path: Path): Given {
    if (!isObject(value)) return { state: this.text(value, path) };
    const { state, ...rest } = value;
    return { ...rest, ...(state !== undefined && { state: this.text(state, [...path, 'state']) }) };
  }

  private mocks(values: unknown, path: Path): Readonly<Record<string, Mock>> {
    return Object.fromEntries(
      Object.entries((values ?? {}) as Readonly<Record<string, Values>>).map(
        ([action, { takes, ...mock }]) => {
          const at = [...path, action];
          if ('response' in mock && 'raises' in mock)
            this.problem(at, 'has response and raises: an action that fails has no response, remove one.');
          return [
            action,
            { ...mock, ...(takes !== undefined && { takes: this.duration(takes, [...at, 'takes']) }) },
          ];
        },
      ),
    );
  }

  private texts(values: Values, path: Path): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, this.text(value, [...path, key])]),
    );
  }

  private step(value: Values, path: Path): Step {
    const line = lineAt(this.lines, path);
    const [[verb, given]] = Object.entries(value) as [[string, unknown]];
    const at = [...path, verb];
    switch (verb) {
      case 'set':
        return { line, set: this.given(given, at) };
      case 'fire':
        return { line, fire: { event_data: {}, ...(given as { readonly event_type: string }) } };
      case 'call':
        return { line, call: { target: {}, data: {}, ...(given as { readonly action: string }) } };
      case 'advance':
        return { line, advance: this.duration(given, at) };
      case 'at': {
        const instant = instantOf(given as string);
        if (!instant) this.problem(at, `${shown(given)} is no day of the calendar: correct it.`);
        return { line, at: instant ?? { clock: '00:00:00' } };
      }
      case 'restart': {
        const down = isObject(given) ? given['down'] : undefined;
        return {
          line,
          restart: { down: down === undefined ? DEFAULT_DOWN : this.duration(down, [...at, 'down']) },
        };
      }
      default:
        return { line, expect: compileExpect(this, given as Values, at) };
    }
  }

  /** Whether a number at this path is a state, which is text and keeps its characters as written. */
  private keepsCharacters(path: Path): boolean {
    const [field, parent] = [path.at(-1), path.at(-2)];
    const isState = (name: unknown) => name === 'given' || name === 'set' || name === 'secrets';
    return isState(parent) || (field === 'state' && isState(path.at(-3)));
  }
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
