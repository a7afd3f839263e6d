import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { API_GROUP } from '../../operator/kinds/group';
import { kubectl } from '../cluster';

/** Objects and requests of the operator's account, as an attacker with its token would send them. */

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export const ACCOUNT = `system:serviceaccount:${NAMESPACE}:${OPERATOR}`;

export const ours = (kind: string, name: string) => ({
  labels: { 'app.kubernetes.io/managed-by': OPERATOR, [`${API_GROUP}/owner`]: `${kind}.${name}` },
  ownerReferences: [
    {
      apiVersion: `${API_GROUP}/v1`,
      kind,
      name,
      uid: '00000000-0000-4000-8000-000000000000',
      controller: true,
    },
  ],
});

export const configMap: Manifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'my-home-configuration', ...ours('Hub', 'my-home') },
};
export const secret = {
  ...configMap,
  kind: 'Secret',
  metadata: { ...configMap.metadata, name: 'my-home-secrets' },
};
export const claim: Manifest = {
  ...configMap,
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'my-home-config', labels: ours('Hub', 'my-home').labels },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
export const container = { name: 'install', image: 'hub', command: ['python3', '-c', ''] };
const installer = {
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  containers: [container],
  volumes: [
    { name: 'config', persistentVolumeClaim: { claimName: 'my-home-config' } },
    { name: 'parts', projected: { sources: [{ secret: { name: 'my-home-part-0' } }] } },
  ],
};
export const pod = (spec: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'my-home-community-0',
    ...ours('HubCommunityRepository', 'my-theme'),
    annotations: { [`${API_GROUP}/installation`]: '{}' },
  },
  spec: { ...installer, ...spec },
});
export const withoutTask: Manifest = {
  ...pod(),
  metadata: { name: 'my-home-community-0', ...ours('HubCommunityRepository', 'my-theme') },
};
/** The fields that the operator sets in the pod of every hub. */
export const hubPod = {
  automountServiceAccountToken: false,
  initContainers: ['prepare-config', 'unban-operator-ip'].map((name) => ({ ...container, name })),
  containers: [{ name: 'hub', image: 'hub' }],
  volumes: [{ name: 'config', persistentVolumeClaim: { claimName: 'my-home-config' } }],
};
export const podOf = (spec: object) => ({
  template: { metadata: { labels: { app: 'hub' } }, spec: { ...hubPod, ...spec } },
});
export const set = (spec: object = {}, owner = ours('Hub', 'my-home')): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'my-home', ...owner },
  spec: {
    replicas: 1,
    serviceName: 'my-home',
    selector: { matchLabels: { app: 'hub' } },
    ...podOf({}),
    ...spec,
  },
});
export const without = (manifest: Manifest, ...fields: string[]): Manifest => ({
  ...manifest,
  metadata: Object.fromEntries(
    Object.entries(manifest.metadata).filter(([field]) => !fields.includes(field)),
  ) as Manifest['metadata'],
});

/**
 * Returns functions that send requests of the operator's account in one namespace, as dry runs: the policy is
 * evaluated, and nothing is stored.
 */
export function requestsIn(namespace: () => string) {
  const send = (args: readonly string[], where: string | undefined, input?: object) =>
    kubectl([...args, `--as=${ACCOUNT}`], {
      ...(where !== undefined && { namespace: where }),
      ...(input && { input: JSON.stringify(input) }),
    });
  return {
    create: (manifest: Manifest, where = namespace()) =>
      send(['create', '--dry-run=server', '-f', '-'], where, manifest),
    patch: (what: readonly string[], body: object, where: string | undefined = namespace()) =>
      send(['patch', ...what, '--dry-run=server', '--type=merge', '-p', JSON.stringify(body)], where),
    remove: (...what: string[]) => send(['delete', ...what, '--dry-run=server'], namespace()),
  };
}

/**
 * Returns the refusal of each new object, or undefined for one that is accepted. All are sent in one command,
 * since a process for each would take minutes.
 */
export async function refusals(
  namespace: string,
  manifests: readonly Manifest[],
): Promise<(string | undefined)[]> {
  const nameOf = (index: number) => `case-${index}`;
  const items = manifests.map((manifest, index) => renamed(manifest, nameOf(index)));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const args = ['create', '--dry-run=server', '-f', '-', `--as=${ACCOUNT}`];
  const { stdout, stderr } = await kubectl(args, { namespace, input });
  const lines = stderr.split('\n');
  return manifests.map((_, index) => {
    const isNamed = (line: string) => new RegExp(`["/]${nameOf(index)}[" ]`).test(line);
    if (stdout.split('\n').some(isNamed)) return undefined;
    return lines.find(isNamed) ?? `no answer: ${stderr}`;
  });
}

/** A StatefulSet has the name of its Hub. */
function renamed(manifest: Manifest, name: string): Manifest {
  const owners = manifest.metadata['ownerReferences'] as readonly { kind: string }[];
  const ownerReferences = owners.map((owner) => (owner.kind === 'Hub' ? { ...owner, name } : owner));
  return { ...manifest, metadata: { ...manifest.metadata, name, ownerReferences } };
}

export const allowed = { code: 0, stderr: '' };
export const refused = (words: string) => ({
  code: 1,
  stderr: expect.stringContaining(`the account of the operator ${words}`) as string,
});
