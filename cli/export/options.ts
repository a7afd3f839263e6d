import { type Command, Option } from 'commander';
import { CommandError } from '../command-error';
import { isOutputFormat, type OutputFormat, outputFormats } from '../output';

interface Given {
  readonly to?: string;
  readonly output: string;
  readonly format?: OutputFormat;
}

/** The folder for the files, and the format of the report. */
export interface Destination {
  readonly output: string;
  readonly format: OutputFormat;
}

/**
 * Adds the options. The former ones are accepted for one more release: `-o` for the folder, and `--format`.
 */
export function withDestination(command: Command): Command {
  const form = new Option('-o, --output <format>', 'form of the report').choices(outputFormats);
  return command
    .option('--to <directory>', 'folder for the files')
    .addOption(form.argParser((value: string) => value).default('table'))
    .addOption(new Option('--format <format>').choices(outputFormats).hideHelp());
}

/** @throws CommandError */
export function destinationOf<Options extends object>(options: Options & Given): Options & Destination {
  const { to, output, format } = options;
  const isForm = isOutputFormat(output);
  const folder = to ?? (isForm ? undefined : output);
  if (folder === undefined || folder === '')
    throw new CommandError('name the folder for the files: --to DIRECTORY');
  if (to !== undefined && !isForm)
    throw new CommandError(`-o ${output} is no form of the report: use one of ${outputFormats.join(', ')}`);
  return { ...options, output: folder, format: format ?? (isForm ? output : 'table') };
}
