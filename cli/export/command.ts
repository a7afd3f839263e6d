import type { Command } from 'commander';
import type { ClusterOptions } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import type { Environment } from '../environment';
import { type ExitCode, exitCodes } from '../exit-codes';
import { StoredObjects } from '../diff/stored-objects';
import { openHub, type OpenHub, openUrl } from '../hub/access';
import { count, formatResult, formatTable, oneLine } from '../output';
import { withTexts } from '../with-texts';
import { idsInCopy } from './config-copy';
import { filesOf, type KeptFile, type Warning, writeFiles } from './files';
import { type Destination, destinationOf, withDestination } from './options';
import { blueprintsInCluster } from './blueprints';
import { presentIn, withoutPresent } from './in-cluster';
import { NO_RESOURCES, type Present } from './present';
import { readHub, registryNames } from './read-hub';
import { describe } from './resources';

/** Options that select the hub of a command. */
export interface HubOptions extends ClusterOptions {
  readonly hub?: string;
  readonly url?: string;
  readonly tokenFile?: string;
}

interface ExportOptions extends HubOptions, Destination {
  readonly force?: boolean;
  readonly config?: string;
  readonly new?: boolean;
}

/** Name of the Hub in the files if the user gives none. */
const DEFAULT_NAME = 'my-home';

export function exportCommand(context: CommandContext): Command {
  return withDestination(withHub(clusterCommand('export')))
    .summary('write the content of a hub as files of resources')
    .description(
      `Reads automations, scenes, scripts, ${registryNames} and integrations of a hub, and writes a file for each ` +
        'object; also for each device and entity whose settings a person has changed. It changes nothing in the hub. Applied, the files describe what is there: nothing is written to the hub. ' +
        `With --url alone the Hub in the files is ${DEFAULT_NAME}. ` +
        'The same content gives the same files. What cannot be expressed is listed with the reason; values that look like ' +
        'secrets are named and never written. A file that is there with another content stays. Exit code 3: an object is not ' +
        'expressed, or a file not written.',
    )
    .option(
      '--config <folder>',
      'a copy of the folder /config of the hub: its automations.yaml and scripts.yaml tell the ids that people have given, for each of ' +
        'which the hub would read its whole file',
    )
    .option(
      '--new',
      'with --hub: only objects that no resource of the Hub has, such as those that a person has made in the hub',
    )
    .option('--force', 'replace files that are there with another content, also their comments')
    .action(context.action((given: ExportOptions) => exportHub(context.environment, destinationOf(given))));
}

/** @throws CommandError, HubError */
async function exportHub(environment: Environment, options: ExportOptions): Promise<ExitCode> {
  const { clock, terminal } = environment;
  const inFiles = options.config === undefined ? {} : await idsInCopy(options.config);
  refuseNewWithoutHub(options);
  const hub = await openNamed(environment, options);
  try {
    const { content, notExpressed: unread } = await readHub(
      hub.client,
      clock,
      inFiles,
      await describedBlueprints(environment, options),
      (text) => terminal.progress(text),
    );
    const hubName = options.hub ?? DEFAULT_NAME;
    const present = await presentResources(environment, options, hub);
    const all = describe(hubName, content, present);
    const { described, notExpressed: undescribed } = withoutPresent(
      { ...all, notExpressed: [...unread, ...all.notExpressed] },
      present,
    );
    terminal.progress('Checking the resources');
    const { files, notExpressed: unfit, warnings } = await filesOf(described);
    const { written, kept, others } = await withTexts(clock, (texts) =>
      writeFiles(options.output, files, { isReplaced: options.force === true, texts }),
    );
    const result = {
      written: written.map(({ path, kind, name }) => ({ path, kind, name })),
      notExpressed: [...undescribed, ...unfit].map(({ object, reason }) => ({ object, reason })),
      warnings,
      kept,
      others: options.new ? [] : others,
      hub: hubName,
    };
    terminal.print(await formatResult(options.format, result, () => summary(options, result)));
    return result.notExpressed.length + kept.length > 0 ? exitCodes.incomplete : exitCodes.success;
  } finally {
    hub.close();
  }
}

/** @throws CommandError */
function refuseNewWithoutHub({ hub, new: isNew, url }: ExportOptions): void {
  if (isNew && (url !== undefined || hub === undefined))
    throw new CommandError(
      '--new needs --hub NAME without --url: it compares the hub with the resources of its Hub',
    );
}

/** The resources whose objects get no file. @throws CommandError, ApiError, HubError */
async function presentResources(
  { clock, connect, terminal }: Pick<Environment, 'clock' | 'connect' | 'terminal'>,
  { new: isNew, hub: name, ...options }: ExportOptions,
  { client }: OpenHub,
): Promise<Present> {
  if (!isNew || name === undefined) return NO_RESOURCES;
  terminal.progress('Looking for the resources of the objects');
  const cluster = connect(options);
  try {
    return await presentIn(cluster, name, new StoredObjects(client, clock));
  } finally {
    cluster.close();
  }
}

/** Blueprints that the cluster describes. A hub at an address of its own has no Hub there. */
async function describedBlueprints(
  { connect }: Pick<Environment, 'connect'>,
  options: HubOptions,
): Promise<ReadonlySet<string>> {
  if (options.url !== undefined || options.hub === undefined) return new Set();
  const cluster = connect(options);
  try {
    return await blueprintsInCluster(cluster, options.hub);
  } finally {
    cluster.close();
  }
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

interface Exported {
  readonly written: readonly { readonly kind: string }[];
  readonly notExpressed: readonly { readonly object: string; readonly reason: string }[];
  readonly warnings: readonly Warning[];
  readonly kept: readonly KeptFile[];
  readonly others: readonly string[];
  /** Name of the Hub in the files. */
  readonly hub: string;
}

function summary(
  { output, hub: named }: ExportOptions,
  { written, notExpressed, warnings, kept, others, hub }: Exported,
): string {
  const kinds = [...new Set(written.map(({ kind }) => kind))];
  const rows = kinds.map((kind) => [kind, String(written.filter((each) => each.kind === kind).length)]);
  return [
    ...(rows.length > 0 ? [formatTable(['KIND', 'FILES'], rows).trimEnd()] : []),
    ...notExpressed.map(({ object, reason }) => oneLine(`not expressed: ${object}: ${reason}`)),
    ...warnings.map(({ path, message }) => `warning: ${path}: ${message}`),
    ...kept.map(({ path, reason }) => `not written: ${path}: ${oneLine(reason)}`),
    ...others.map(
      (path) =>
        `of no object: ${path}: it is left from a former export, or your own. Delete it if its object is gone.`,
    ),
    `${count(written.length, 'file')} in ${output}, ${count(notExpressed.length, 'object')} not expressed`,
    ...(named === undefined ? [`spec.hubRef in the files is ${hub}: --hub NAME gives another name`] : []),
  ].join('\n');
}
