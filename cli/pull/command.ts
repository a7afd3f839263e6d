import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { Clock } from '../../operator/base/clock';
import { kindsByName } from '../../operator/kinds';
import { userAnnotations } from '../../operator/kinds/annotations';
import type { CustomResource } from '../../operator/kinds/resource';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import { exitCodes } from '../exit-codes';
import { likelySecrets } from '../export/likely-secrets';
import { StoredObjects } from '../diff/stored-objects';
import { type OutputOptions, printResult, withOutput } from '../output';
import { openHub } from '../hub/access';
import { parseTarget } from '../kind-names';
import { hubNameOf } from '../status/causes';
import { withTexts } from '../with-texts';
import { printDocument } from '../yaml/print';
import { readText, replaceFile } from '../yaml/replace-file';
import { withFieldsBounded } from './file-text';
import { type PulledFields, pulledFields } from './pulled-spec';

interface PullOptions extends OutputOptions {
  readonly write?: string;
}

/** kubectl keeps the former manifest there. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function pullCommand(context: CommandContext): Command {
  return withOutput(clusterCommand('pull'))
    .summary('take over into a file what was edited in the hub')
    .description(
      'Prints the resource as its object is in the hub now, such as after an edit in the browser. With --write it changes the ' +
        'file instead: only the fields that differ, with comments and order kept where that is possible. It changes neither ' +
        'the hub nor the cluster. With driftPolicy Warn the operator keeps the edit until the file is applied.',
    )
    .argument('<resource>', 'KIND/NAME of a resource with an object in the hub')
    .option('--write <file>', 'file with the resource, which is changed')
    .action(
      context.clusterAction(async (cluster, argument: string, options: PullOptions) => {
        const { write } = options;
        const { clock, terminal } = context.environment;
        const { definition, name } = parseTarget(argument);
        const resource = await cluster.get(definition, name);
        const siblings = [...(await cluster.listAll()).values()]
          .flat()
          .filter((each) => hubNameOf(each) === hubNameOf(resource));
        const hub = await openHub(cluster, hubNameOf(resource), clock);
        try {
          const fields = await pulledFields(
            { ...resource, kind: definition.kind },
            siblings,
            new StoredObjects(hub.client, clock),
          );
          refuseSecrets(fields);
          const { kind } = definition;
          if (write === undefined) {
            const inHub = pulled(resource, kind, fields);
            await printResult(terminal, options, inHub, () => printDocument(inHub));
          } else {
            const file = await change(clock, write, kind, name, fields);
            const changed = file.isChanged ? Object.keys(fields) : [];
            await printResult(terminal, options, { kind, name, file: write, changed }, () => file.line);
          }
          return exitCodes.success;
        } finally {
          hub.close();
        }
      }),
    );
}

/** @throws CommandError */
function refuseSecrets(fields: PulledFields): void {
  const found = likelySecrets(fields, ['spec']);
  if (found.length > 0)
    throw new CommandError(
      `${found.join(' and ')} looks like a secret, which must not be in Git: keep it in the hub, or write the field by hand`,
    );
}

/** `line` tells people. */
async function change(
  clock: Clock,
  file: string,
  kind: string,
  name: string,
  fields: PulledFields,
): Promise<{ readonly isChanged: boolean; readonly line: string }> {
  const text = await readText(file);
  if (text === undefined)
    throw new CommandError(
      `there is no file ${file}: name the file that has the resource, or print it without --write`,
    );
  const names = Object.keys(fields);
  if (names.length === 0)
    return { isChanged: false, line: `${kind} ${name}: the hub has it as the resource says` };
  const changed = await withTexts(clock, (texts) =>
    withFieldsBounded(texts, { file, text, kind, name, fields }),
  );
  if (changed === text) return { isChanged: false, line: `${kind} ${name}: ${file} has it as the hub does` };
  await replaceFile(file, text, changed);
  return { isChanged: true, line: `${kind} ${name}: ${names.join(', ')} changed in ${file}` };
}

/** The resource as a person would write it: without status and the defaults of the API server. */
function pulled(resource: CustomResource, kind: string, fields: PulledFields): object {
  const { properties = {} } = kindsByName.get(kind)!.spec;
  const spec = Object.entries({ ...resource.spec, ...fields }).filter(
    ([name, value]) =>
      value !== undefined && (name in fields || !isDeepStrictEqual(value, properties[name]?.default)),
  );
  const { labels, annotations = {}, name } = resource.metadata;
  // What kubectl and `kubectl hub sync` have written is no content of a file.
  const { [LAST_APPLIED]: _, [userAnnotations.reconcileAt]: __, ...ownAnnotations } = annotations;
  return {
    apiVersion: resource.apiVersion,
    kind,
    metadata: {
      name,
      ...(labels && { labels }),
      ...(Object.keys(ownAnnotations).length > 0 && { annotations: ownAnnotations }),
    },
    spec: Object.fromEntries(spec),
  };
}
