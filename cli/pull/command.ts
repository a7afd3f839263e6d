import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { BoundedTasks } from '../../operator/base/bounded-task';
import type { Clock } from '../../operator/base/clock';
import { hub as hubKind, kinds, kindsByName } from '../../operator/kinds';
import { userAnnotations } from '../../operator/kinds/annotations';
import type { CustomResource } from '../../operator/kinds/resource';
import type { Cluster } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import type { Environment } from '../environment';
import { type ExitCode, exitCodes } from '../exit-codes';
import { likelySecrets } from '../export/likely-secrets';
import { StoredObjects } from '../diff/stored-objects';
import { type OutputOptions, printResult, withOutput } from '../output';
import { openHub } from '../hub/access';
import { findTarget } from '../kind-names';
import { hubNameOf } from '../status/causes';
import { withTexts } from '../with-texts';
import { printDocument } from '../yaml/print';
import { readText, replaceFile } from '../yaml/replace-file';
import { type FileFields, withFieldsBounded } from './file-text';
import { type PulledFields, pulledFields } from './pulled-spec';
import { resourceInFile } from './resource-in-file';

interface PullOptions extends OutputOptions {
  readonly write?: string;
}

/** Annotation in which kubectl stores the last applied manifest. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const children = kinds.filter(({ kind }) => kind !== hubKind.kind);

export function pullCommand(context: CommandContext): Command {
  return withOutput(clusterCommand('pull'))
    .summary('take over into a file what was edited in the hub')
    .description(
      'Prints the resource as its object is in the hub now, such as after an edit in the browser. With --write it compares a ' +
        'file with the hub instead, and changes in it only what differs: all else stays byte for byte. It changes neither ' +
        'the hub nor the cluster. With driftPolicy Warn the operator keeps the edit until the file is applied.',
    )
    .argument('<resource>', 'KIND/NAME of a resource with an object in the hub')
    .option('--write <file>', 'file with the resource, which is changed')
    .action(
      context.clusterAction((cluster, argument: string, options: PullOptions) =>
        pull(cluster, argument, options, context.environment),
      ),
    );
}

/** @throws CommandError, HubError */
async function pull(
  cluster: Cluster,
  argument: string,
  options: PullOptions,
  { clock, terminal }: Environment,
): Promise<ExitCode> {
  const { write } = options;
  const { definition, name } = await findTarget(cluster, argument, children);
  const resource = await cluster.get(definition, name);
  const siblings = [...(await cluster.listAll()).values()]
    .flat()
    .filter((each) => hubNameOf(each) === hubNameOf(resource));
  const file = write === undefined ? undefined : await fileWith(write);
  await withTexts(clock, async (texts) => {
    // The file may be older than the cluster, or edited since the last apply.
    const compared = file
      ? await resourceInFile(texts, file, definition, resource)
      : { ...resource, kind: definition.kind };
    const fields = await fieldsInHub(cluster, compared, siblings, clock);
    refuseSecrets(fields);
    const { kind } = definition;
    if (file) {
      const { namespace } = resource.metadata;
      const { path, text } = file;
      const line = await change(texts, { file: path, text, kind, name, namespace, fields });
      const result = { kind, name, file: path, changed: Object.keys(fields) };
      await printResult(terminal, options, result, () => line);
    } else {
      const inHub = pulled(resource, kind, fields);
      await printResult(terminal, options, inHub, () => printDocument(inHub));
    }
  });
  return exitCodes.success;
}

interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** @throws CommandError */
async function fileWith(path: string): Promise<TextFile> {
  const text = await readText(path);
  if (text !== undefined) return { path, text };
  throw new CommandError(
    `there is no file ${path}: name the file that has the resource, or print it without --write`,
  );
}

async function fieldsInHub(
  cluster: Cluster,
  resource: CustomResource,
  siblings: readonly CustomResource[],
  clock: Clock,
): Promise<PulledFields> {
  const hub = await openHub(cluster, hubNameOf(resource), clock);
  try {
    return await pulledFields(resource, siblings, new StoredObjects(hub.client, clock));
  } finally {
    hub.close();
  }
}

/** @throws CommandError */
function refuseSecrets(fields: PulledFields): void {
  const found = likelySecrets(fields, ['spec']);
  if (found.length > 0)
    throw new CommandError(
      `${found.join(' and ')} looks like a secret, which must not be in Git: keep it in the hub, or write the field by hand`,
    );
}

/** Changes the file. @returns a line for the user */
async function change(texts: BoundedTasks, given: FileFields): Promise<string> {
  const { file: path, text, kind, name, fields } = given;
  const names = Object.keys(fields);
  if (names.length === 0) return `${kind} ${name}: ${path} has it as the hub does`;
  const changed = await withFieldsBounded(texts, given);
  await replaceFile(path, text, changed);
  return `${kind} ${name}: ${names.join(', ')} changed in ${path}`;
}

/** The resource as a user would write it: without status and without the API server's defaults. */
function pulled(resource: CustomResource, kind: string, fields: PulledFields): object {
  const { properties = {} } = kindsByName.get(kind)!.spec;
  const spec = Object.entries({ ...resource.spec, ...fields }).filter(
    ([name, value]) =>
      value !== undefined && (name in fields || !isDeepStrictEqual(value, properties[name]?.default)),
  );
  const { labels, annotations = {}, name } = resource.metadata;
  // Annotations of kubectl and `kubectl hub sync` do not belong in a file.
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
