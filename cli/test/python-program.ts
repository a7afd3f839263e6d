import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Clock } from '../../operator/base/clock';
import { isObject } from '../../operator/base/is-object';
import { Timer } from '../../operator/base/timer';
import { truncate } from '../../operator/base/truncate';
import { CommandError } from '../command-error';
import { oneLine } from '../output';
import { Child, type End } from './child';
import { type Launch, WAYS_TO_PYTHON } from './launch';
import type { Answer, Request } from './protocol';

/**
 * Milliseconds without an answer after which the program is ended. A case of a week with hundreds of
 * automations takes half a minute on an idle machine.
 */
export const LONGEST_SILENCE = 10 * 60_000;

/** Most bytes of an answer. */
const LONGEST_LINE = 64 * 1_024 * 1_024;

/** Characters of an invalid answer that a message shows. */
const SHOWN = 120;

interface ProgramOptions {
  readonly clock: Clock;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** The source of the loader, which creates modules from {@link Request.modules}. */
  readonly loader: string;
  readonly onAnswer: (answer: Answer) => void;
  /** Name of the case that is running; undefined if no case is. */
  readonly current: () => string | undefined;
  readonly isComplete: () => boolean;
}

/**
 * Runs the cases in Python, and passes each answer on when it arrives.
 *
 * @throws CommandError the program cannot be started, ends too early, is silent for too long, or sends an
 * invalid answer
 */
export async function runPython(launch: Launch, request: Request, options: ProgramOptions): Promise<void> {
  const { clock, signal, loader } = options;
  signal.throwIfAborted();
  const { container } = launch;
  const child = new Child(launch.program, [...launch.args, '-I', '-c', loader], () => {
    if (container) void new Child(container.engine, ['rm', '--force', container.name]).end;
  });
  let fault: unknown;
  const fail = (error: unknown): void => {
    fault ??= error;
    child.kill();
  };
  const silence = new Timer(clock);
  const listen = () => silence.set(LONGEST_SILENCE, () => fail(new CommandError(silent(launch, options))));
  const onAbort = () => fail(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  readLines(child, (line) => {
    if (fault !== undefined) return;
    listen();
    try {
      handOn(line, launch, options);
    } catch (error) {
      fail(error);
    }
  });
  listen();
  // The folder of a container is removed with the container.
  const folder = container ? undefined : join(tmpdir(), `hubtest-${randomBytes(8).toString('hex')}`);
  child.give(
    `${JSON.stringify({ ...request, ...(folder !== undefined && { folder }) } satisfies Request)}\n`,
  );
  const end = await child.end.finally(() => {
    // A program that was killed could not remove its folder.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    silence.clear();
    signal.removeEventListener('abort', onAbort);
  });
  if (fault !== undefined) throw fault as Error;
  const problem = problemOf(end, child, launch, options);
  if (problem !== undefined) throw new CommandError(problem);
}

const silent = ({ description }: Launch, options: ProgramOptions): string =>
  `${description} has been silent for ${LONGEST_SILENCE / 60_000} minutes${inCase(options)}: run that case alone with --only, and shorten its times`;

/**
 * Calls `onLine` with each line. For a line that exceeds the limit, `onLine` gets a description, which is
 * then refused as an invalid answer.
 */
function readLines(child: Child, onLine: (line: string) => void): void {
  createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', (line) => {
    if (line.trim() !== '') onLine(line);
  });
  let open = 0;
  child.stdout.on('data', (part: Buffer) => {
    const end = part.lastIndexOf(0x0a);
    open = end === -1 ? open + part.length : part.length - end;
    if (open > LONGEST_LINE) onLine(`a line of more than ${LONGEST_LINE} bytes`);
  });
}

/** @throws CommandError */
function handOn(line: string, launch: Launch, { onAnswer }: ProgramOptions): void {
  const answer = answerIn(line);
  const garbled = `${launch.description} answers with something else than a result: ${shownText(line)}: use another Python or image`;
  if (answer === undefined) throw new CommandError(garbled);
  if (answer.type === 'failed') throw new CommandError(oneLine(answer.message));
  try {
    onAnswer(answer);
  } catch (error) {
    throw error instanceof TypeError ? new CommandError(garbled) : error; // a field is missing
  }
}

const TYPES: readonly string[] = [
  'hub',
  'refused',
  'unsimulated',
  'call',
  'change',
  'case',
  'coverage',
  'failed',
] satisfies Answer['type'][];

function answerIn(line: string): Answer | undefined {
  try {
    const answer: unknown = JSON.parse(line);
    return isObject(answer) && TYPES.includes(String(answer['type'])) ? (answer as Answer) : undefined;
  } catch {
    return undefined;
  }
}

const shownText = (text: string): string => JSON.stringify(truncate(oneLine(text), SHOWN));

const inCase = ({ current }: Pick<ProgramOptions, 'current'>): string => {
  const name = current();
  return name === undefined ? '' : `, in the case “${oneLine(name)}”`;
};

/** The exit code with which a shell or a container reports that its program was killed by SIGKILL. */
const KILLED = 137;
/**
 * Exit codes of docker and podman: the engine itself failed, or the program in the container cannot be
 * started.
 */
const ENGINE_FAILED = 125;

/** A sentence about an unsuccessful end, with its cause and the remedy; undefined for a successful one. */
function problemOf(end: End, child: Child, launch: Launch, options: ProgramOptions): string | undefined {
  const { code, signal, error } = end;
  const { description, program } = launch;
  if (error)
    return `cannot start ${description}: ${error.code === 'ENOENT' ? `there is no program ${program}` : reasonOf(error)}: ${WAYS_TO_PYTHON}`;
  if (code === 0) {
    return options.isComplete()
      ? undefined
      : `${description} has ended${inCase(options)} without its result${because(child)}`;
  }
  if (signal === 'SIGKILL' || code === KILLED)
    return `${description} was killed${inCase(options)}, as a machine does when its memory is full: give it more, or run fewer cases at once with --only`;
  if (/No module named '?homeassistant|Home Assistant is not installed/.test(child.stderr))
    return `${description} has no Home Assistant: ${WAYS_TO_PYTHON}`;
  if (launch.container && code === ENGINE_FAILED)
    return `${description} cannot be started${because(child)}: see whether ${launch.container.engine} run works, or ${WAYS_TO_PYTHON}`;
  const how = signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
  return `${description} ended ${how}${inCase(options)}${because(child)}: use a Python with a Home Assistant that is supported, or ${WAYS_TO_PYTHON}`;
}

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'EACCES' ? 'it is not a program that you may run' : message;

const because = ({ lastLine }: Child): string => {
  const cause = truncate(oneLine(lastLine), 2 * SHOWN).replace(/[.:]$/, '');
  return cause === '' ? '' : `: ${cause}`;
};
