import type { Command } from 'commander';
import { API_GROUP } from '../../operator/kinds/group';
import type { Manifest } from '../../operator/offline/manifests';
import type { ClusterOptions } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import type { Environment } from '../environment';
import { withTexts } from '../with-texts';
import { type OutputOptions, printResult, withOutput } from '../output';
import type { ValidateOptions } from './validate';

export function validateCommand(context: CommandContext): Command {
  return withOutput(clusterCommand('validate'))
    .summary('check resources in files, without a cluster, and with --hub also the names in them')
    .description(
      `Checks the resources of ${API_GROUP} in files of YAML or JSON, without a cluster. A directory stands for the files in it ` +
        'that end in .yaml, .yml or .json, - for the standard input. Files that end in .hubtest.yaml are checked as tests. In a directory these are left out: names that begin ' +
        'with a dot, node_modules, the templates of Helm charts, links to directories. With --hub it also warns of entities, actions, devices, areas, ' +
        'labels and floors that the hub does not have and the files do not make. Exit code 1: there is an error.',
    )
    .argument('<file...>', 'files, directories, or - for the standard input')
    .option('--strict', 'a warning fails as well')
    .option(
      '--hub <name>',
      'name of the Hub in the cluster whose hub is asked for the names; only this needs a cluster',
    )
    .action(
      context.action(async (paths: string[], options: ValidateOptions & OutputOptions & ClusterOptions) => {
        const { environment } = context;
        // Loaded on demand: the schemas and rules take a while to load, and no other command needs them.
        const { validate } = await import('./validate');
        const { code, output, result } = await withTexts(environment.clock, (texts) =>
          validate(
            paths,
            options,
            () => environment.readStandardInput(),
            texts,
            lookUpIn(environment, options),
          ),
        );
        await printResult(environment.terminal, options, result, () => output);
        return code;
      }),
    );
}

/** Undefined: no hub is asked. The client of a hub is loaded on demand. */
function lookUpIn(environment: Environment, options: ValidateOptions & ClusterOptions) {
  const { hub } = options;
  if (hub === undefined) return undefined;
  return async (manifests: readonly Manifest[]) => {
    environment.terminal.progress(`Looking the names up in the hub of ${hub}`);
    const { lookUp } = await import('./references');
    return lookUp(environment, options, hub, manifests);
  };
}
