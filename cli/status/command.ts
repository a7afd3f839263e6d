import type { Command } from 'commander';
import { OperationalError } from '../../operator/base/errors';
import { hub as hubKind, kindsByName } from '../../operator/kinds';
import type { CustomResource, Resource } from '../../operator/kinds/resource';
import { isForbidden } from '../../operator/runtime/api-errors';
import { pathOf } from '../../operator/runtime/objects';
import { builtin } from '../../operator/runtime/types';
import type { Cluster } from '../cluster';
import { CommandError } from '../command-error';
import { clusterCommand, type CommandContext, withAllNamespaces } from '../command-context';
import { type ExitCode, exitCodes } from '../exit-codes';
import { errorText } from '../error-text';
import { formatResult, type OutputOptions, withOutput, wrapped } from '../output';
import { meantBy, orElse } from '../suggestion';
import { stateOf } from './state';
import { renderTrees } from './render';
import { type HubTree, isAllReady, treesOf } from './tree';

/** Milliseconds between two reads of the cluster with `--watch`. */
const WATCH_INTERVAL = 2_000;

interface StatusOptions extends OutputOptions {
  readonly watch?: true;
  readonly allNamespaces?: true;
}

export function statusCommand(context: CommandContext): Command {
  return withOutput(
    withAllNamespaces(clusterCommand('status'))
      .summary('show a hub and its resources, and why something is not Ready')
      .description(
        'Shows the Hubs of the namespace, or one of them, with their resources. Kinds that are Ready take one line; a ' +
          'resource that is not Ready is shown with the chain of causes and the way out. A kind that you may not list is marked with ' +
          '`?`. Exit code 1: something is not Ready.',
      )
      .argument('[hub]', 'name of a Hub (default: all in the namespace)')
      .option('-w, --watch', 'show it again after each change, until Ctrl-C'),
  ).action(
    context.clusterAction(async (cluster, hubName: string | undefined, options: StatusOptions) => {
      if (options.watch) return watch(cluster, context, hubName, options);
      const trees = await readTrees(placeOf(cluster, options), hubName);
      context.environment.terminal.print(await format(trees, options, context));
      return isAllReady(trees) ? exitCodes.success : exitCodes.negative;
    }),
  );
}

const placeOf = (cluster: Cluster, { allNamespaces }: StatusOptions): Cluster =>
  allNamespaces ? cluster.inNamespace('') : cluster;

/** @throws CommandError there is no such hub */
export async function readTrees(cluster: Cluster, hubName?: string): Promise<readonly HubTree[]> {
  const { resources, refused } = await cluster.listReadable({ plain: true });
  const trees: HubTree[] = [];
  const isAll = cluster.namespace === '';
  for (const [namespace, inNamespace] of isAll
    ? byNamespace(resources)
    : [[cluster.namespace, resources] as const]) {
    const secrets = await existingSecrets(cluster.inNamespace(namespace), inNamespace);
    const objects = { resources: inNamespace, refused, hasSecret: (name: string) => secrets.get(name) };
    const found = treesOf(objects, hubName);
    trees.push(...(isAll ? found.map((tree) => ({ namespace, ...tree })) : found));
  }
  if (trees.length > 0) return trees;
  const missing = hubName === undefined ? 'no Hub and no resource of one' : `no Hub ${hubName}`;
  if (isAll) throw new CommandError(`there is ${missing} in any namespace${mayBeRefused(refused)}`);
  const meant = hubName === undefined ? undefined : meantBy(hubName, resources.get(hubKind.kind) ?? []);
  const wayOut = orElse(
    meant?.metadata.name,
    'choose the namespace with -n, or see all with kubectl hub status -A',
  );
  throw new CommandError(
    `there is ${missing} in the namespace ${cluster.namespace}${mayBeRefused(refused)}: ${wayOut}`,
  );
}

const mayBeRefused = (refused: ReadonlyMap<string, string>): string =>
  refused.size === 0 ? '' : ` that you may see (${[...refused.values()][0]})`;

type Resources = ReadonlyMap<string, readonly CustomResource[]>;

function byNamespace(resources: Resources): (readonly [string, Resources])[] {
  const all = [...resources.values()].flat();
  const namespaces = [...new Set(all.map(({ metadata }) => metadata.namespace ?? ''))].sort();
  return namespaces.map((namespace) => {
    const here = [...resources].map(
      ([kind, some]) => [kind, some.filter(({ metadata }) => metadata.namespace === namespace)] as const,
    );
    return [namespace, new Map(here)] as const;
  });
}

/** Whether the Secrets exist to which resources that are not Ready refer. Their contents are not read. */
async function existingSecrets(
  cluster: Cluster,
  resources: ReadonlyMap<string, readonly CustomResource[]>,
): Promise<ReadonlyMap<string, boolean>> {
  const names = new Set(
    [...resources.values()]
      .flat()
      .filter((resource) => ['Progressing', 'Failed'].includes(stateOf(resource).state))
      .flatMap((resource) => kindsByName.get(resource.kind)!.references(resource as Resource<object, object>))
      .filter(({ kind }) => kind === 'Secret')
      .map(({ name }) => name),
  );
  if (names.size === 0) return new Map();
  try {
    const { items } = await cluster.api.request<{ items: readonly { metadata: { name: string } }[] | null }>({
      method: 'GET',
      path: pathOf(builtin.Secret, cluster.namespace),
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      objectDepth: 3,
    });
    // The API server returns an empty list of metadata as null.
    const present = new Set(items?.map(({ metadata }) => metadata.name));
    return new Map([...names].map((name) => [name, present.has(name)]));
  } catch (error) {
    if (isForbidden(error)) return new Map(); // the chain of causes then ends before the Secret
    throw error;
  }
}

async function watch(
  cluster: Cluster,
  context: CommandContext,
  hubName: string | undefined,
  options: StatusOptions,
): Promise<ExitCode> {
  const { clock, signal, terminal } = context.environment;
  let shown = '';
  while (!signal.aborted) {
    const text = await current(cluster, context, hubName, options);
    if (text !== shown) {
      if (terminal.isInteractive) terminal.redraw(text);
      else terminal.print(shown === '' ? text : `\n${text}`);
    }
    shown = text;
    await clock.sleep(WATCH_INTERVAL, signal).catch(() => undefined);
  }
  return exitCodes.success;
}

/** Reads the trees for a watch, which continues although the API server does not answer for a while. */
async function current(
  cluster: Cluster,
  context: CommandContext,
  hubName: string | undefined,
  options: StatusOptions,
): Promise<string> {
  try {
    return await format(await readTrees(placeOf(cluster, options), hubName), options, context);
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    const { width = Infinity } = context.environment.terminal;
    return wrapped(errorText(error, cluster), width).join('\n');
  }
}

const format = (
  trees: readonly HubTree[],
  { output }: StatusOptions,
  { environment: { terminal } }: CommandContext,
): Promise<string> =>
  formatResult(output, trees, () =>
    renderTrees(trees, (style, text) => terminal.paint(style, text), terminal.width),
  );
