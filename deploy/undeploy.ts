import { NAMESPACE, OPERATOR } from '../manifests/names';
import { API_GROUP } from '../operator/kinds/group';
import { MOST_DELIVERIES, objectNames } from '../operator/kinds/object-names';
import {
  CommandError,
  confirm,
  describeCluster,
  kubectl,
  listObjects,
  mustKubectl,
  runCommand,
} from './command';
import {
  definitionNames,
  INSTALLED_KINDS,
  type HubData,
  hubData,
  listResources,
  type Resource,
} from './inventory';

/** Time limit for the release of the finalizers, in seconds. */
const TIMEOUT = process.env['TIMEOUT'] || '25';
const CONTINUE = 'Run `make undeploy` again to continue.';
const DELETE = ['delete', '--ignore-not-found', '--filename=-'];
const KUBERNETES_TIMEOUT = '--timeout=120s';
/** Kinds of the objects that the operator creates. Each of these kinds exists in every cluster. */
const OWNED_KINDS =
  'statefulsets,persistentvolumeclaims,services,ingresses,networkpolicies,pods,configmaps,secrets';

/**
 * `make undeploy`: removes everything of the operator from the cluster of kubectl's current context. Shows
 * first which Hubs and volumes are deleted, and asks (`YES=1` answers yes). Continues after an earlier run,
 * or a user, has removed any part.
 */
async function main(): Promise<void> {
  const cluster = describeCluster();
  const resources = listResources();
  const hubs = hubData(resources);
  const installed = listObjects<Resource>([
    ...[INSTALLED_KINDS.join(','), '--all-namespaces', `--selector=app.kubernetes.io/name=${OPERATOR}`],
  ]);
  if (definitionNames().length === 0 && installed.length === 0)
    return console.log(`Nothing of the operator is in the cluster.\n\n${cluster}`);
  console.log(describeRemoval(cluster, resources, hubs));
  await confirm('Nothing was deleted.');

  for (const { hub, fate } of hubs) if (fate === 'kept') keepVolume(hub);
  // If the operator runs, it removes the objects of these resources from the hubs whose data stays.
  const staying = hubs.filter(({ fate }) => fate !== 'gone').map(({ hub }) => identity(hub));
  const first = resources.filter((resource) =>
    staying.includes(identity(resource, resource.spec?.hubRef ?? {})),
  );
  remove(first);
  // While a Hub is being deleted, the operator does not remove the objects of its children from the hub one
  // by one.
  const others = resources.filter((resource) => !first.includes(resource));
  remove(others.sort((a, b) => Number(b.kind === 'Hub') - Number(a.kind === 'Hub')));
  removeOwnedObjects();
  const kinds = definitionNames();
  const hold = `Resources that were created meanwhile may hold the kinds. ${CONTINUE}`;
  if (kinds.length > 0)
    mustKubectl(['delete', 'crd', '--ignore-not-found', KUBERNETES_TIMEOUT, ...kinds], '', hold);
  const hint = `Kubernetes may still delete what is in the namespace ${NAMESPACE}. ${CONTINUE}`;
  if (installed.length > 0) mustKubectl([...DELETE, KUBERNETES_TIMEOUT], asList(installed), hint);
  console.log('Deleted the operator.');
  if (hubs.some(({ fate }) => fate === 'gone'))
    console.log('The pod of a hub may take up to 4 minutes to stop; Kubernetes deletes its claim then.');
}

/** Returns `namespace/name` of a resource, or of the Hub with the given name in its namespace. */
const identity = ({ metadata }: Resource, { name }: { name?: string } = metadata): string =>
  `${metadata.namespace}/${name}`;

/** Describes for the user which objects are deleted and which are kept. */
function describeRemoval(cluster: string, resources: readonly Resource[], hubs: readonly HubData[]): string {
  const lost = hubs.find(({ fate }) => fate === 'gone')?.hub.metadata;
  return `This removes the operator from the cluster of kubectl's current context:

${cluster}

It deletes the kinds, the operator with all that is in the namespace ${NAMESPACE}, and

${hubs.map(({ hub, text }) => `  Hub ${identity(hub)}  ${text}\n`).join('')}  ${resources.length - hubs.length} other resources
${
  lost
    ? `
To keep a volume, answer no, and set storage.retain first:
  kubectl -n ${lost.namespace} patch hub ${lost.name} --type=merge -p '{"spec":{"storage":{"retain":true}}}'
`
    : ''
}`;
}

/**
 * Removes a Hub's owner references from the objects that stay with its volume. The operator does so too, but
 * it may not run, and then the garbage collector would delete these objects (rules.md, "Storage").
 */
function keepVolume({ metadata: { name, namespace, uid }, spec }: Resource): void {
  const { volumeClaim, admin, delivery } = objectNames(name);
  const { existingClaim = volumeClaim } = spec?.storage ?? {};
  const kept = [
    ...(existingClaim === volumeClaim ? [`persistentvolumeclaim/${volumeClaim}`] : []),
    `secret/${admin}`,
    ...Array.from({ length: MOST_DELIVERIES }, (_, index) => `configmap/${delivery(index)}`),
  ];
  for (const { kind, metadata } of listObjects<Resource>([...kept, `--namespace=${namespace}`])) {
    const index = metadata.ownerReferences?.findIndex((owner) => owner.uid === uid) ?? -1;
    const path = `/metadata/ownerReferences/${index}`;
    const patch = [
      { op: 'test', path: `${path}/uid`, value: uid },
      { op: 'remove', path },
    ];
    const what = [`${kind}/${metadata.name}`, `--namespace=${namespace}`];
    if (index >= 0) mustKubectl(['patch', ...what, '--type=json', `--patch=${JSON.stringify(patch)}`]);
  }
}

/**
 * Deletes these resources and waits. With `FORCE=1`, finalizers that the operator has not released are
 * removed.
 */
function remove(resources: readonly Resource[]): void {
  if (resources.length === 0) return;
  const deletion = kubectl([...DELETE, `--timeout=${TIMEOUT}s`], asList(resources));
  if (deletion.code === 0) return;
  if (!deletion.stderr.includes('timed out')) throw new CommandError(deletion.stderr);
  const uids = new Set(resources.map(({ metadata }) => metadata.uid));
  const left = listResources().filter(({ metadata }) => uids.has(metadata.uid));
  if (left.some(hasOurs) && process.env['FORCE'] !== '1')
    throw new CommandError(
      `The operator has not released the finalizers of these resources; it may not run:\n${shown(left)}\n${CONTINUE} FORCE=1 removes these finalizers: the objects then stay in hubs that stay, and volumes that stay are not affected.`,
    );
  removeFinalizers(left.filter(hasOurs));
  const held = left.filter(({ metadata }) => !metadata.finalizers?.every(isOurs));
  if (held.length > 0)
    throw new CommandError(
      `These resources are held by finalizers of other controllers, which have to release them:\n${shown(held)}\n${CONTINUE}`,
    );
}

/**
 * Removes only finalizers of the operator. One kubectl serves all resources that keep the same finalizers of
 * other controllers.
 */
function removeFinalizers(resources: readonly Resource[]): void {
  const others = ({ metadata }: Resource) =>
    JSON.stringify(metadata.finalizers?.filter((finalizer) => !isOurs(finalizer)));
  for (const finalizers of new Set(resources.map(others))) {
    const patch = `--patch={"metadata":{"finalizers":${finalizers}}}`;
    const same = asList(resources.filter((resource) => others(resource) === finalizers));
    const { stderr } = kubectl(['patch', '--type=merge', patch, '--filename=-'], same);
    // A resource whose finalizers were released in the meantime no longer exists.
    const refusals = stderr.split('\n').filter((line) => line !== '' && !line.includes('(NotFound)'));
    if (refusals.length > 0) throw new CommandError(`Cannot remove finalizers: ${refusals.join('\n')}`);
  }
}

const isOurs = (finalizer: string): boolean => finalizer.startsWith(`${API_GROUP}/`);
const hasOurs = ({ metadata }: Resource): boolean => metadata.finalizers?.some(isOurs) ?? false;

const shown = (resources: readonly Resource[]): string =>
  resources
    .map((each) => `  ${each.kind} ${identity(each)} (${each.metadata.finalizers?.join(', ')})`)
    .join('\n');

/**
 * Deletes the objects whose owners are all of the operator's kinds. A retained claim has no owner and stays.
 * The garbage collector of Kubernetes deletes these objects too, but not after the kinds are deleted, and it
 * discovers newly installed kinds only after half a minute.
 */
function removeOwnedObjects(): void {
  const selector = `--selector=app.kubernetes.io/managed-by=${OPERATOR}`;
  const found = listObjects<Resource>([OWNED_KINDS, '--all-namespaces', selector]);
  const owned = found.filter(({ metadata }) =>
    metadata.ownerReferences?.every(({ apiVersion }) => apiVersion.startsWith(`${API_GROUP}/`)),
  );
  if (owned.length > 0) mustKubectl([...DELETE, '--wait=false'], asList(owned));
}

/**
 * Returns the list of these objects for kubectl's standard input, without fields that may have changed in the
 * meantime.
 */
function asList(objects: readonly Resource[]): string {
  const items = objects.map(({ apiVersion, kind, metadata: { name, namespace } }) => {
    return { apiVersion, kind, metadata: { name, namespace } };
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

runCommand(main);
