import { Command } from 'commander';
import { API_GROUP } from '../../operator/kinds/group';
import type { CommandContext } from '../command-context';
import { withTexts } from '../with-texts';
import { type OutputOptions, printResult, withOutput } from '../output';
import type { ValidateOptions } from './validate';

export function validateCommand(context: CommandContext): Command {
  return withOutput(new Command('validate'))
    .summary('check resources in files, without a cluster')
    .description(
      `Checks the resources of ${API_GROUP} in files of YAML or JSON, without a cluster. A directory stands for the files in it ` +
        'that end in .yaml, .yml or .json, - for the standard input. Files that end in .hubtest.yaml are checked as tests. In a directory these are left out: names that begin ' +
        'with a dot, node_modules, the templates of Helm charts, links to directories. Exit code 1: there is an error.',
    )
    .argument('<file...>', 'files, directories, or - for the standard input')
    .option('--strict', 'a warning fails as well')
    .action(
      context.action(async (paths: string[], options: ValidateOptions & OutputOptions) => {
        const { environment } = context;
        // Loaded on demand: the schemas and rules take a while to load, and no other command needs them.
        const { validate } = await import('./validate');
        const { code, output, result } = await withTexts(environment.clock, (texts) =>
          validate(paths, options, () => environment.readStandardInput(), texts),
        );
        await printResult(environment.terminal, options, result, () => output);
        return code;
      }),
    );
}
