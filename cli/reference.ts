import type { Argument, Command, Option } from 'commander';
import { systemClock } from '../operator/base/clock';
import { CommandContext } from './command-context';
import { exitCodeMeanings } from './exit-codes';
import { createProgram } from './program';
import { Terminal } from './terminal';

/** The page of docs/reference about the commands, generated from their definitions. */
export async function commandsPage(): Promise<string> {
  const program = await createProgram('kubectl hub', new CommandContext(noEnvironment));
  const commands = program.commands;
  return [
    '# Commands',
    'The program `kubectl-hub` is a plugin of kubectl: `kubectl hub status`. The operator’s image has the same commands: ' +
      '`hub-operator status`. `kubectl hub help COMMAND` prints what this page says.',
    '## Exit codes',
    ['| Code | Meaning |', '|---|---|', ...Object.entries(exitCodeMeanings).map(row)].join('\n'),
    ...commands.flatMap(section),
  ].join('\n\n');
}

const noOutput = { write: () => undefined };
const none = () => Promise.reject(new Error('cannot run a command: only its description is read'));

/** An empty environment: the commands are only described, not run. */
const noEnvironment = {
  terminal: new Terminal({ stdout: noOutput, stderr: noOutput, env: {} }),
  clock: systemClock,
  signal: new AbortController().signal,
  connect: () => {
    throw new Error('cannot connect to a cluster: only descriptions of commands are read');
  },
  readStandardInput: none,
  readHub: none,
  readOccupation: none,
};

function section(command: Command): string[] {
  const args: readonly Argument[] = command.registeredArguments;
  const options: readonly Option[] = command.options.filter(({ hidden }) => !hidden);
  const rows = [
    ...args.map((each) => row([`\`${shown(each)}\``, described(each.description, each.argChoices)])),
    ...options.map((each) =>
      row([`\`${each.flags}\``, described(each.description, each.argChoices, defaultOf(each))]),
    ),
  ];
  return [
    `## ${command.name()}`,
    `\`kubectl hub ${command.name()} ${command.usage()}\``,
    // A paragraph of its own makes the exit codes easy to find.
    command.description().replaceAll(' Exit code', '\n\nExit code'),
    ...(rows.length === 0 ? [] : [['| Argument or option | Meaning |', '|---|---|', ...rows].join('\n')]),
  ];
}

const shown = (argument: Argument): string =>
  `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`;

const defaultOf = ({ defaultValue, defaultValueDescription: description }: Option): string | undefined =>
  description ?? (typeof defaultValue === 'string' ? defaultValue : undefined);

function described(text: string, choices?: readonly string[], preset?: string): string {
  const parts = [
    text,
    ...(choices ? [`one of ${choices.join(', ')}`] : []),
    ...(preset ? [`default ${preset}`] : []),
  ];
  return parts.join('; ');
}

const row = (cells: readonly unknown[]): string => `| ${cells.map(cell).join(' | ')} |`;
const cell = (value: unknown): string => String(value).replaceAll('|', '\\|');
