import { Command, InvalidArgumentError, Option } from 'commander';
import { CommandError } from '../command-error';
import type { CommandContext } from '../command-context';
import type { Environment } from '../environment';
import type { ExitCode } from '../exit-codes';
import { withOutput } from '../output';
import { parsePeriod } from './record/period';
import type { RecordOptions } from './record/record';
import type { TestOptions } from './test';

type GivenOptions = TestOptions & Partial<RecordOptions>;

export function testCommand(context: CommandContext): Command {
  const command = new Command('test')
    .summary('test automations, scripts and scenes on a virtual clock, without a hub')
    .description(
      'Runs the cases in `*.hubtest.yaml` against the resources of one Hub in files: the core of Home Assistant, as it is, with a virtual clock; no cluster, ' +
        'no hub, no network. Resources are read below each path, tests below it and in the folder `tests` beside it; a test file that is named runs alone. ' +
        'Exit code 0: all passed. 1: a case failed, or too little is covered. 2: a file is not valid, the hub does not load a definition, or there is no Python ' +
        'with Home Assistant: `--python`, that of the sandbox in a clone, or docker or podman with the image of the hub. ' +
        'With --record it plays the history of the running hub against what that hub runs now and against the files, and prints how the calls differ. ' +
        'Exit code 1: they differ.',
    )
    .argument(
      '<file...>',
      'files or directories of resources and tests, or - for resources from the standard input',
    )
    .option('--hub <name>', 'name of the Hub, where the files have the resources of several')
    .option('-n, --namespace <name>', 'namespace of the Hub, and of resources without one')
    .option('--only <regex>', 'only the cases whose name it is found in')
    .option('--timeline', 'print the calls and changes of each case')
    .option('--coverage', 'print which triggers, conditions and steps have run, and which never')
    .addOption(
      new Option('--min-coverage <percent>', 'fail if less is covered; includes --coverage').argParser(
        percent,
      ),
    )
    .option('--junit <file>', 'write a report in the form of JUnit');
  return withOutput(withRecord(withHomeAssistant(command))).action(
    context.action((paths: string[], options: GivenOptions) =>
      testOrCompare(paths, options, context.environment),
    ),
  );
}

/** Adds the options that select the Home Assistant in which the cases run. */
function withHomeAssistant(command: Command): Command {
  return command
    .option(
      '--hub-version <version>',
      'version of Home Assistant (default: that of the Hub, else the newest supported)',
    )
    .option('--python <program>', 'Python with Home Assistant')
    .option('--image <image>', 'image with Home Assistant, for docker or podman');
}

/** Adds the options of a comparison with the history of a running hub. */
function withRecord(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--record <time>',
        'compare with the running hub by its history of this time, such as 7d or 24h',
      ).argParser(parsePeriod),
    )
    .option('--leave-out <entities>', 'entities whose history is not read, with commas between them')
    .option('--context <name>', 'context of the kubeconfig for --record (default: the current one)')
    .option('--kubeconfig <file>', 'kubeconfig for --record (default: as kubectl finds it)');
}

/** Runs the tests, or compares with the history of a running hub. @throws CommandError */
async function testOrCompare(
  paths: readonly string[],
  options: GivenOptions,
  environment: Environment,
): Promise<ExitCode> {
  const { record, leaveOut } = options;
  const ofRecord = { 'leave-out': leaveOut, context: options.context, kubeconfig: options.kubeconfig };
  const [name] = Object.entries(ofRecord).find(([, value]) => value !== undefined) ?? [];
  if (record === undefined && name !== undefined)
    throw new CommandError(
      `--${name} is for the history of a hub, and tests need none: add --record, such as --record 7d, or leave it out`,
    );
  if (record !== undefined) {
    const { compareWithRecord } = await import('./record/record');
    return compareWithRecord(paths, { ...options, record }, environment);
  }
  // Loaded on demand: the schemas and rules take a while to load, and no other command needs them.
  const { runTests } = await import('./test');
  return runTests(paths, options, environment);
}

function percent(text: string): number {
  const value = Number(text);
  if (!/^\d{1,3}$/.test(text) || value > 100) throw new InvalidArgumentError('Write a number from 0 to 100.');
  return value;
}
