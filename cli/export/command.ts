import type { Command } from 'commander';
import type { ClusterOptions } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import type { Environment } from '../environment';
import { exitCodes } from '../exit-codes';
import { openHub, type OpenHub, openUrl } from '../hub/access';
import { formatResult, formatTable, oneLine } from '../output';
import { filesOf, writeFiles } from './files';
import { type Destination, destinationOf, withDestination } from './options';
import { readHub, registryNames } from './read-hub';
import { describe } from './resources';

/** Where a command finds its hub. */
export interface HubOptions extends ClusterOptions {
  readonly hub?: string;
  readonly url?: string;
  readonly tokenFile?: string;
}

interface ExportOptions extends HubOptions, Destination {}

/** The name of the Hub in the files when none is given. */
const DEFAULT_NAME = 'my-home';

export function exportCommand(context: CommandContext): Command {
  return withDestination(withHub(clusterCommand('export')))
    .summary('write the content of a hub as files of resources')
    .description(
      `Reads automations, scenes, scripts, ${registryNames} and integrations of a hub, and writes a file for each ` +
        'object. It changes nothing in the hub. Applied, the files describe what is there: nothing is written to the hub. ' +
        'The same content gives the same files. What cannot be expressed is listed with the reason; values that look like ' +
        'secrets are named and never written. Exit code 3: something cannot be expressed.',
    )
    .action(
      context.action(async (given: ExportOptions) => {
        const options = destinationOf(given);
        const { environment } = context;
        const { terminal } = environment;
        const hub = await openNamed(environment, options);
        try {
          const { content, notExpressed: unread } = await readHub(hub.client, (text) =>
            terminal.progress(text),
          );
          const { described, notExpressed: ambiguous } = describe(options.hub ?? DEFAULT_NAME, content);
          terminal.progress('Checking the resources');
          const { files, notExpressed: unfit } = await filesOf(described);
          const others = await writeFiles(options.output, files);
          const notExpressed = [...unread, ...ambiguous, ...unfit];
          const written = files.map(({ path, kind, name }) => ({ path, kind, name }));
          terminal.print(
            await formatResult(options.format, { written, notExpressed, others }, () =>
              summary(options.output, written, notExpressed, others),
            ),
          );
          return notExpressed.length > 0 ? exitCodes.incomplete : exitCodes.success;
        } finally {
          hub.close();
        }
      }),
    );
}

export function withHub(command: Command): Command {
  return command
    .option('--hub <name>', 'name of the Hub: its hub is read, or with --url the name in the files')
    .option(
      '--url <address>',
      'address of a hub without a Hub in the cluster, such as http://192.168.1.10:8123',
    )
    .option('--token-file <file>', 'file with a long-lived access token of an administrator, for --url');
}

/** @throws CommandError, HubError */
export async function openNamed(
  { clock, connect }: Pick<Environment, 'clock' | 'connect'>,
  options: HubOptions,
): Promise<OpenHub> {
  const { hub, url, tokenFile } = options;
  if (url !== undefined) {
    if (tokenFile === undefined)
      throw new CommandError(
        '--url needs --token-file: a file with a long-lived access token of an administrator',
      );
    return openUrl(url, tokenFile, clock);
  }
  if (hub === undefined)
    throw new CommandError('name a hub: --hub NAME, or --url ADDRESS with --token-file FILE');
  const cluster = connect(options);
  try {
    return await openHub(cluster, hub, clock);
  } finally {
    cluster.close();
  }
}

function summary(
  directory: string,
  written: readonly { readonly kind: string }[],
  notExpressed: readonly { readonly object: string; readonly reason: string }[],
  others: readonly string[],
): string {
  const kinds = [...new Set(written.map(({ kind }) => kind))];
  const rows = kinds.map((kind) => [kind, String(written.filter((each) => each.kind === kind).length)]);
  return [
    ...(rows.length > 0 ? [formatTable(['KIND', 'FILES'], rows).trimEnd()] : []),
    ...notExpressed.map(({ object, reason }) => `not expressed: ${object}: ${oneLine(reason)}`),
    ...others.map((path) => `not written by this export: ${path}`),
    `${written.length} files in ${directory}, ${notExpressed.length} objects not expressed`,
  ].join('\n');
}
