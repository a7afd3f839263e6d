import { setTimeout as sleep } from 'node:timers/promises';
import { NAMESPACE, OPERATOR } from '../manifests/names';
import { type Cluster, currentCluster, showCluster } from './cluster';
import { confirm } from './confirm';
import { count } from './count';
import { CommandError, runCommand } from './command-error';
import { childrenOf, definitionNames, type Inventory, listOwnedObjects, readInventory } from './inventory';
import { Kubectl } from './kubectl';
import { isOperatorRunning } from './operator-running';
import { Removal } from './removal';
import { seconds } from './seconds';
import { asList, isDefinition, isNamespace, type Manifest, shippedManifests } from './shipped';

// Milliseconds.
/** For finalizers when no operator seems to run: it may all the same. */
const SHORT_TIMEOUT = 3_000;
/** The timeout for objects that Kubernetes itself deletes. */
const KUBERNETES_TIMEOUT = 120_000;
const POLL = 500;

/**
 * `make undeploy`: removes everything of the operator from the cluster of kubectl's current context. Shows first which
 * Hubs and volumes go, and asks (`YES=1`). Continues where an earlier run, or a person, has stopped, in any order.
 */
async function main(): Promise<void> {
  const timeout = seconds('TIMEOUT', 25);
  const kubectl = new Kubectl();
  const cluster = await currentCluster(kubectl);
  const inventory = await readInventory(kubectl);
  const installed = await installedManifests(kubectl);
  if (inventory.definitions.length === 0 && installed.length === 0) {
    console.log(`Nothing of the operator is in the cluster ${cluster.server} (context ${cluster.context}).`);
    return;
  }
  console.log(describeRemoval(cluster, inventory, installed));
  const agreed = await confirm({
    text: 'Go on?',
    variable: 'YES',
    withoutTerminal: `Nothing was deleted: there is no terminal to ask whether to remove all this from ${cluster.server}.`,
  });
  if (!agreed) throw new CommandError('Nothing was deleted.');
  await removeResources(kubectl, inventory, timeout);
  await removeOwnedObjects(kubectl);
  await removeDefinitions(kubectl);
  await removeOperator(kubectl, installed);
}

/** The objects that are deleted and those that are kept, for the question to the user. */
function describeRemoval(
  cluster: Cluster,
  { definitions, resources, hubs }: Inventory,
  installed: readonly Manifest[],
): string {
  const children = resources.filter(({ kind }) => kind !== 'Hub');
  const width = Math.max(
    0,
    ...hubs.map(({ hub: { metadata } }) => `${metadata.namespace}/${metadata.name}`.length),
  );
  const lines = hubs.map(
    ({ hub: { metadata }, text }) => `    ${`${metadata.namespace}/${metadata.name}`.padEnd(width)}  ${text}`,
  );
  const [lost] = hubs.filter(({ fate }) => fate === 'gone');
  const advice = lost && [
    '',
    'To keep a volume, answer no, and set storage.retain first:',
    `  kubectl -n ${lost.hub.metadata.namespace} patch hub ${lost.hub.metadata.name} --type=merge -p '{"spec":{"storage":{"retain":true}}}'`,
  ];
  return [
    "This removes the operator from the cluster of kubectl's current context:",
    '',
    showCluster(cluster),
    '',
    'It deletes:',
    '',
    `  ${count(hubs.length, 'Hub')}, with pods, Services and Secrets${hubs.length > 0 ? ':' : ''}`,
    ...lines,
    `  ${count(children.length, 'other resource')}${children.length > 0 ? `: ${countByKind(children)}` : ''}`,
    `  ${count(definitions.length, 'kind')} (CustomResourceDefinitions)`,
    `  ${count(installed.length, 'object')} of the operator${installed.some(isNamespace) ? `, and all that is in the namespace ${NAMESPACE}` : ''}`,
    ...(advice ?? []),
    '',
  ].join('\n');
}

function countByKind(resources: readonly { readonly kind: string }[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of resources) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

/**
 * While the operator runs, so that finalizers are released. The children of a Hub that outlives this are first: their
 * objects are removed from it. Those of the others go with the Hub and its volume.
 */
async function removeResources(
  kubectl: Kubectl,
  { definitions, resources, hubs }: Inventory,
  timeout: number,
): Promise<void> {
  if (resources.length === 0) return;
  const isRunning = await isOperatorRunning(kubectl);
  const removal = new Removal(kubectl, definitions, {
    timeout: isRunning ? timeout : SHORT_TIMEOUT,
    isOperatorRunning: isRunning,
  });
  await removal.keepVolumes(hubs);
  const staying = hubs.filter(({ fate }) => fate !== 'gone');
  const first = childrenOf(resources, staying);
  await removal.remove(first);
  const others = resources.filter((resource) => !first.includes(resource));
  // Once a Hub is being deleted, nothing of its children is removed from it one by one.
  await removal.remove(others.sort((a, b) => Number(b.kind === 'Hub') - Number(a.kind === 'Hub')));
  console.log(`Deleted ${count(resources.length, 'resource')}.`);
  if (hubs.some(({ fate }) => fate === 'gone'))
    console.log('The pod of a hub may take up to 4 minutes to stop; Kubernetes deletes its claim then.');
}

/**
 * What belonged to a Hub. The garbage collector of Kubernetes deletes it, too, but cannot any more once the kinds are gone,
 * and it learns of kinds that were just installed only after half a minute.
 */
async function removeOwnedObjects(kubectl: Kubectl): Promise<void> {
  const objects = await listOwnedObjects(kubectl);
  if (objects.length > 0) await deleteObjects(kubectl, objects);
}

/** Does not wait until they are gone. */
async function deleteObjects(kubectl: Kubectl, objects: readonly Manifest[]): Promise<void> {
  const items = objects.map(({ apiVersion, kind, metadata: { name, namespace } }) => ({
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
  }));
  await kubectl.run(['delete', '--ignore-not-found', '--wait=false', '--filename=-'], {
    input: asList(items),
  });
}

async function removeDefinitions(kubectl: Kubectl): Promise<void> {
  const names = await definitionNames(kubectl);
  if (names.length === 0) return;
  await kubectl.run(['delete', 'customresourcedefinitions', '--ignore-not-found', '--wait=false', ...names]);
  const isGone = await untilDeleted(async () => (await definitionNames(kubectl)).length === 0);
  if (!isGone)
    throw new CommandError(
      'The kinds are still being deleted: resources that were created meanwhile may hold them.',
      'Run `make undeploy` again to continue.',
    );
  console.log(`Deleted ${count(names.length, 'kind')}.`);
}

/** The roles in watched namespaces are of `dist/watched-namespace`, which is applied to each of them. */
async function removeOperator(kubectl: Kubectl, installed: readonly Manifest[]): Promise<void> {
  if (installed.length === 0) return;
  // The namespace is last: the objects in it may be needed until then.
  const ordered = [...installed.filter((each) => !isNamespace(each)), ...installed.filter(isNamespace)];
  await deleteObjects(kubectl, ordered);
  const isGone = await untilDeleted(async () => (await kubectl.list(['namespace', NAMESPACE])).length === 0);
  console.log(
    `Deleted the operator${isGone ? '' : `; Kubernetes still deletes what is in the namespace ${NAMESPACE}`}.`,
  );
}

/** The installed objects of `dist/`, and the roles in the namespaces that a namespaced operator watches. */
async function installedManifests(kubectl: Kubectl): Promise<readonly Manifest[]> {
  const shipped = shippedManifests().filter((each) => !isDefinition(each));
  const found = await kubectl.list<Manifest>(['--filename=-'], { input: asList(shipped) });
  const bindings = await kubectl.list<Binding>(['rolebindings', '--all-namespaces']);
  const watched = bindings.filter(
    ({ metadata, subjects }) =>
      metadata.name === OPERATOR &&
      subjects?.some(({ name, namespace }) => name === OPERATOR && namespace === NAMESPACE),
  );
  const roles = watched.map(({ metadata }) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata,
  }));
  return [...found, ...watched, ...roles];
}

interface Binding extends Manifest {
  readonly subjects?: readonly { readonly name: string; readonly namespace?: string }[];
}

async function untilDeleted(isGone: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + KUBERNETES_TIMEOUT;
  while (!(await isGone())) {
    if (Date.now() > deadline) return false;
    await sleep(POLL);
  }
  return true;
}

runCommand(main);
