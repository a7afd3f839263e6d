import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { LogRecord } from '../../operator/client/connection/api-types';
import { readLog } from '../../operator/client/setup/log-records';
import { type Hub, hub as definition } from '../../operator/kinds';
import { objectNames } from '../../operator/kinds/object-names';
import { isNotFound } from '../../operator/runtime/api-errors';
import { pathOf } from '../../operator/runtime/objects';
import { builtin } from '../../operator/runtime/types';
import type { Cluster } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import { countFrom } from '../duration';
import { type ExitCode, exitCodes } from '../exit-codes';
import { openHub } from '../hub/access';
import { logLine, oneLine, type OutputOptions, Results, withOutput } from '../output';

interface LogsOptions extends OutputOptions {
  readonly follow?: true;
  readonly tail?: number;
  readonly previous?: true;
  readonly system?: true;
}

/** Name of the hub's container in its pod. */
const CONTAINER = 'hub';

export function logsCommand(context: CommandContext): Command {
  return withOutput(clusterCommand('logs'))
    .summary('show the log of a hub')
    .description(
      'Shows the log of the hub’s container. Of an external hub, and with --system, the warnings and errors that the hub ' +
        'keeps in memory, oldest first; values of the hub’s secrets are masked there.',
    )
    .argument('<hub>', 'name of a Hub')
    .option('-f, --follow', 'go on until Ctrl-C')
    .option('--tail <lines>', 'only the last lines', countFrom(0))
    .option('--previous', 'the container before the last restart')
    .option('--system', 'warnings and errors of the hub’s own memory')
    .action(
      context.clusterAction(async (cluster, name: string, options: LogsOptions) => {
        const { spec } = (await cluster.get(definition, name)) as unknown as Hub;
        if (spec.external || options.system) return systemLog(cluster, context, name, options);
        if (options.output !== 'table')
          throw new CommandError('the log of a container is lines of text: -o is for --system');
        return podLog(cluster, context, name, options);
      }),
    );
}

async function podLog(
  cluster: Cluster,
  { environment: { signal, terminal } }: CommandContext,
  name: string,
  { follow, previous, tail }: LogsOptions,
): Promise<ExitCode> {
  const pod = objectNames(name).pod;
  const stream = await cluster.api
    .stream({
      method: 'GET',
      path: pathOf(builtin.Pod, cluster.namespace, pod, 'log'),
      query: { container: CONTAINER, follow, previous, tailLines: tail },
      accept: '*/*',
      signal,
    })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new CommandError(
        `the pod ${pod} does not exist: kubectl hub status ${name} says what the hub waits for`,
      );
    });
  try {
    for await (const line of createInterface({ input: stream })) terminal.print(logLine(line));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return exitCodes.success;
}

async function systemLog(
  cluster: Cluster,
  { environment: { clock, terminal } }: CommandContext,
  name: string,
  { follow, previous, tail, output }: LogsOptions,
): Promise<ExitCode> {
  if (follow || previous)
    throw new CommandError(
      'the log in the memory of a hub can be read as it is only: leave out --follow and --previous',
    );
  const hub = await openHub(cluster, name, clock);
  try {
    const all = [...(await readLog(hub.client))].reverse();
    const records = all.slice(Math.max(0, all.length - (tail ?? all.length)));
    const { redact } = hub.client.rest;
    const results = new Results(terminal, { output });
    for (const record of records) results.add(dataOf(record, redact), redact(formatRecord(record)));
    await results.end();
    return exitCodes.success;
  } finally {
    hub.close();
  }
}

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().replace(/\.\d+Z/, 'Z');

const dataOf = (
  { first_occurred: first, level, name, message, count }: LogRecord,
  redact: (text: string) => string,
) => ({
  time: timeOf(first),
  level,
  name,
  message: message.map(redact),
  count,
});

function formatRecord({ first_occurred: first, level, name, message, count }: LogRecord): string {
  const times = count > 1 ? ` (${count} times)` : '';
  return `${timeOf(first)} ${level} ${name}: ${message.map(oneLine).join(' | ')}${times}`;
}
