import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { errorOf, OperationalError } from '../operator/base/errors';
import type { Cluster } from './cluster';
import { CommandContext } from './command-context';
import { CommandError } from './command-error';
import { COMPLETE, completionCommand, printCandidates } from './completion';
import type { Environment } from './environment';
import { errorText } from './error-text';
import { type ExitCode, exitCodes } from './exit-codes';
import { logLine } from './output';
import { commandFirst, synonymOf, versionCommand } from './words';

/** Milliseconds after Ctrl-C for a command to end. A child process has 1 s of them before it is killed. */
const GRACE = 2_000;

/** The names under which the program can be called. */
export type ProgramName = 'kubectl hub' | 'hub-operator';

type MakeCommand = (context: CommandContext) => Command;

/**
 * Each command is loaded on demand, with its packages, because loading packages takes most of the time of a
 * short command.
 */
const commands: Readonly<Record<string, () => Promise<MakeCommand>>> = {
  status: async () => (await import('./status/command')).statusCommand,
  sync: async () => (await import('./reconcile/sync-command')).syncCommand,
  restart: async () => (await import('./reconcile/restart-command')).restartCommand,
  suspend: async () => (await import('./reconcile/suspend-command')).suspendCommand,
  resume: async () => (await import('./reconcile/suspend-command')).resumeCommand,
  doctor: async () => (await import('./doctor/command')).doctorCommand,
  export: async () => (await import('./export/command')).exportCommand,
  convert: async () => (await import('./convert/command')).convertCommand,
  entities: async () => (await import('./entities/command')).entitiesCommand,
  diff: async () => (await import('./diff/command')).diffCommand,
  pull: async () => (await import('./pull/command')).pullCommand,
  logs: async () => (await import('./logs/command')).logsCommand,
  trace: async () => (await import('./trace/command')).traceCommand,
  test: async () => (await import('./test/command')).testCommand,
  validate: async () => (await import('./validate/command')).validateCommand,
  completion: () => Promise.resolve(completionCommand),
  version: () =>
    Promise.resolve(({ environment: { terminal } }) =>
      versionCommand(version, (text) => terminal.print(text)),
    ),
};

/**
 * The program with the command of this name. For any other word it has all commands, which the reference and
 * the completion need.
 */
export async function createProgram(
  name: ProgramName,
  context: CommandContext,
  word?: string,
): Promise<Command> {
  const { terminal } = context.environment;
  const program = new Command(name)
    .description(
      'Looks into Home Assistant instances that the Hub Operator manages, and brings them into Git.',
    )
    .version(version)
    .helpCommand(true)
    .showHelpAfterError('--help says what can be given.')
    .configureOutput({
      writeOut: (text) => terminal.print(text),
      writeErr: (text) => terminal.warn(text.trimEnd()),
    })
    .exitOverride();
  const needed =
    word !== undefined && Object.hasOwn(commands, word) ? [commands[word]!] : Object.values(commands);
  for (const load of needed) program.addCommand((await load())(context).copyInheritedSettings(program));
  return program;
}

/** Runs one command. @returns its exit code */
export async function runProgram(
  name: ProgramName,
  args: readonly string[],
  environment: Environment,
): Promise<ExitCode> {
  const { terminal } = environment;
  const words = commandFirst(args);
  let cluster: Cluster | undefined;
  const context = new CommandContext({
    ...environment,
    connect: (options) => (cluster = environment.connect(options)),
  });
  try {
    const program = await createProgram(name, context, words[0]);
    if (words.length === 0) {
      terminal.print(program.helpInformation());
      return exitCodes.success;
    }
    if (words[0] === COMPLETE) return await printCandidates(program, context, words.slice(1));
    refuseUnknown(program, words);
    await withinGrace(environment, program.parseAsync([...words], { from: 'user' }));
    return context.exitCode;
  } catch (error) {
    // Commander has already printed the error, or the help that the user requested.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.failure;
    if (environment.signal.aborted) return exitCodes.failure;
    if (!(error instanceof OperationalError)) throw error;
    // A part of the text may come from a hub or an API server.
    const lines = errorText(error, cluster).split('\n').map(logLine);
    terminal.warn(`error: ${lines.join('\n')}`);
    return error instanceof CommandError ? error.exitCode : exitCodes.failure;
  } finally {
    terminal.clearProgress();
  }
}

/**
 * Waits for a command. After Ctrl-C it has {@link GRACE} to end: waits, streams and tests do, but a command
 * that reads a hub would go on, and write its files.
 *
 * @throws the reason of the signal if the command has not ended then
 */
async function withinGrace({ clock, signal }: Environment, running: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const overdue = new Promise<never>((_, reject) => {
    const onAbort = () => {
      const cancel = clock.after(GRACE, () => reject(errorOf(signal.reason)));
      ended.signal.addEventListener('abort', cancel);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { signal: ended.signal });
  });
  try {
    await Promise.race([running, overdue]);
  } finally {
    ended.abort();
  }
}

/** Refuses unknown commands. Commander itself would accept a word of another tool, and one after `help`. */
function refuseUnknown(program: Command, [word = '', of]: readonly string[]): void {
  const isKnown = (each: string) => each === 'help' || Object.hasOwn(commands, each);
  const asked = word === 'help' ? of : word;
  if (asked === undefined || asked.startsWith('-') || isKnown(asked)) return;
  const synonym = synonymOf(asked);
  const hint = synonym === undefined ? '' : `: kubectl hub ${synonym} does that`;
  if (synonym !== undefined) program.error(`error: unknown command '${asked}'${hint}`);
  if (word === 'help') program.error(`error: unknown command '${asked}': kubectl hub help lists all`);
}
