import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { HubError } from '../operator/client/connection/errors';
import { messageOf, OperationalError } from '../operator/base/errors';
import { CommandContext } from './command-context';
import { CommandError } from './command-error';
import { completeCommand, completionCommand } from './completion';
import { doctorCommand } from './doctor/command';
import { diffCommand } from './diff/command';
import type { Environment } from './environment';
import { type ExitCode, exitCodes } from './exit-codes';
import { exportCommand } from './export/command';
import { logsCommand } from './logs/command';
import { pullCommand } from './pull/command';
import { restartCommand } from './reconcile/restart-command';
import { resumeCommand, suspendCommand } from './reconcile/suspend-command';
import { syncCommand } from './reconcile/sync-command';
import { statusCommand } from './status/command';
import { traceCommand } from './trace/command';
import { validateCommand } from './validate/command';

/** The names under which the program is called. */
export type ProgramName = 'kubectl hub' | 'hub-operator';

/** All commands, as the reference and the completion see them, too. */
export function createProgram(name: ProgramName, context: CommandContext): Command {
  const { terminal } = context.environment;
  const program = new Command(name)
    .description(
      'Looks into Home Assistant instances that the Hub Operator manages, and brings them into Git.',
    )
    .version(version)
    .helpCommand(true)
    .configureOutput({
      writeOut: (text) => terminal.print(text),
      writeErr: (text) => terminal.warn(text.trimEnd()),
    })
    .exitOverride();
  const commands = [
    statusCommand(context),
    syncCommand(context),
    restartCommand(context),
    suspendCommand(context),
    resumeCommand(context),
    doctorCommand(context),
    exportCommand(context),
    diffCommand(context),
    pullCommand(context),
    logsCommand(context),
    traceCommand(context),
    validateCommand(context),
    completionCommand(context),
  ];
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program));
  program.addCommand(completeCommand(program, context).copyInheritedSettings(program), { hidden: true });
  return program;
}

/** Runs one command. @returns its exit code */
export async function runProgram(
  name: ProgramName,
  args: readonly string[],
  environment: Environment,
): Promise<ExitCode> {
  const { terminal } = environment;
  const context = new CommandContext(environment);
  try {
    await createProgram(name, context).parseAsync([...args], { from: 'user' });
    return context.exitCode;
  } catch (error) {
    // Commander has written the text, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.failure;
    if (environment.signal.aborted) return exitCodes.failure;
    if (!(error instanceof OperationalError)) throw error;
    terminal.warn(`error: ${error instanceof HubError ? `the hub: ${error.message}` : messageOf(error)}`);
    return error instanceof CommandError ? error.exitCode : exitCodes.failure;
  } finally {
    terminal.clearProgress();
  }
}
