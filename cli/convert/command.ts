import { fewNames } from '../../operator/base/few-names';
import { Command } from 'commander';
import type { CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import type { Environment } from '../environment';
import { type ExitCode, exitCodes } from '../exit-codes';
import { writeFiles } from '../export/files';
import { type Destination, destinationOf, withDestination } from '../export/options';
import { count, formatResult, formatTable, oneLine } from '../output';
import { withTexts } from '../with-texts';
import { convert, type Converted } from './convert';
import { readSource } from './source';

interface ConvertOptions extends Destination {
  readonly hub: string;
  readonly namespace?: string;
  readonly force?: boolean;
  readonly helpers?: boolean;
}

export function convertCommand(context: CommandContext): Command {
  return withDestination(new Command('convert'))
    .summary('make resources of a configuration.yaml with its folders, or of a backup')
    .description(
      'Reads a copy of the folder /config of a hub, one file of it, or a backup (.tar, not encrypted), and writes resources: a HubConfiguration, its files and folders as ' +
        'ConfigMaps that kustomization.yaml makes, a HubSecrets with the keys and no value, and a resource for each automation, script and scene of automations.yaml, ' +
        'scripts.yaml and scenes.yaml. It contacts nothing. What stays is listed with the reason. A file that is there with another content stays. Exit code 3: an object is ' +
        'not expressed, a file not written, or the configuration has an error.',
    )
    .argument('<path>', 'a folder, a file in YAML, or a backup')
    .option('--hub <name>', 'name of the Hub', 'my-home')
    .option('-n, --namespace <name>', 'namespace that kustomization.yaml gives all resources')
    .option('--helpers', 'make resources of helpers in the YAML, too, and take them out of it')
    .option('--force', 'replace files that are there with another content, also their comments')
    .action(
      context.action((path: string, given: ConvertOptions) =>
        convertFiles(path, destinationOf(given), context.environment),
      ),
    );
}

/** @throws CommandError */
async function convertFiles(
  path: string,
  options: ConvertOptions,
  { clock, terminal }: Environment,
): Promise<ExitCode> {
  terminal.progress('Reading the files');
  assertName(options.hub);
  const source = await readSource(path, options.output);
  const { converted, written } = await withTexts(clock, async (texts) => {
    const made = await convert(source, options, texts);
    terminal.progress('Writing the files');
    const isReplaced = options.force === true;
    return {
      converted: made,
      written: await writeFiles(options.output, made.files, { isReplaced, texts }),
    };
  });
  const { files: _, ...rest } = converted;
  const result = { ...rest, ...written, written: written.written.map((each) => each.path) };
  terminal.print(await formatResult(options.format, result, () => summary(options, converted, written)));
  const isIncomplete = [converted.errors, converted.notExpressed, written.kept].some(
    (each) => each.length > 0,
  );
  return isIncomplete ? exitCodes.incomplete : exitCodes.success;
}

/** Checks the name of the Hub, from which the names of ConfigMaps are made. @throws CommandError */
function assertName(hub: string): void {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(hub))
    throw new CommandError(
      `--hub ${oneLine(hub)} is no name of a Hub: write up to 63 of a-z, 0-9 and -, with a letter or a digit at both ends`,
    );
}

function summary(
  { output }: ConvertOptions,
  { errors, notExpressed, warnings, stays, secret, files }: Converted,
  { written, kept }: Awaited<ReturnType<typeof writeFiles>>,
): string {
  const kindOf = ({ kind, isRaw }: (typeof files)[number]) => (isRaw ? 'file of the configuration' : kind);
  const kinds = [...new Set(files.map(kindOf))].filter((kind) => kind !== '');
  const rows = kinds.map((kind) => [kind, String(files.filter((each) => kindOf(each) === kind).length)]);
  return [
    ...(rows.length > 0 ? [formatTable(['KIND', 'FILES'], rows).trimEnd()] : []),
    ...errors.map((message) => `error: ${oneLine(message)}`),
    ...notExpressed.map(({ object, reason }) => oneLine(`not expressed: ${object}: ${reason}`)),
    ...warnings.map(({ message }) => `warning: ${oneLine(message)}`),
    ...stays.slice(0, MOST_LINES).map(({ path, reason }) => oneLine(`stays: ${path}: ${reason}`)),
    ...(stays.length > MOST_LINES ? [`stays: ${stays.length - MOST_LINES} more, which -o json lists`] : []),
    ...kept.map(({ path, reason }) => oneLine(`not written: ${path}: ${reason}`)),
    ...(secret
      ? [
          `create the Secret ${secret.name} with ${count(secret.keys.length, 'key')} of secrets.yaml: ${fewNames(secret.keys, MOST_KEYS)}`,
        ]
      : []),
    `${count(written.length, 'file')} in ${output}: kubectl apply -k ${output}`,
  ].join('\n');
}

/** Most lines in the report about files that are not converted. */
const MOST_LINES = 50;

/** Most keys in a message; hub-secrets.yaml has all of them. */
const MOST_KEYS = 10;
