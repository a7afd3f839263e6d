import { version } from '../../package.json';
import { kinds } from '../../operator/kinds';
import { API_GROUP, API_VERSION } from '../../operator/kinds/group';
import { OPERATOR_LABELS, WEBHOOK } from '../../operator/kinds/object-names';
import { undefinedIf } from '../../operator/base/undefined-if';
import type { Lease } from '../../operator/runtime/lease-lock';
import { isForbidden, isNotFound } from '../../operator/runtime/api-errors';
import type { ClusterObject } from '../../operator/runtime/objects';
import { pathOf } from '../../operator/runtime/objects';
import { builtin } from '../../operator/runtime/types';
import type { Cluster } from '../cluster';
import { about, type Finding } from './finding';
import { installationOf, type OperatorContainer, sharedBy } from './installations';

/**
 * The oldest supported minor version of Kubernetes 1; docs/reference/supported-versions.md has the reason.
 */
const OLDEST_MINOR = 32;
/** Milliseconds. If clocks differ by more, tokens and certificates are refused. */
export const MAX_CLOCK_SKEW = 60_000;

const VERSION_LABEL = 'app.kubernetes.io/version';

interface Crd extends ClusterObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] };
}

interface Deployment extends ClusterObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly spec: {
        readonly serviceAccountName?: string;
        readonly containers?: readonly OperatorContainer[];
      };
    };
  };
  readonly status?: { readonly availableReplicas?: number };
}

/** Checks that the API server is recent enough. */
export async function checkApiServer({ api }: Cluster): Promise<Finding[]> {
  const { ok, fault } = about('API server', 'cluster');
  const { major, minor, gitVersion } = await api.request<{
    major: string;
    minor: string;
    gitVersion: string;
  }>({ method: 'GET', path: '/version' });
  const isOld = Number(major) === 1 && Number.parseInt(minor, 10) < OLDEST_MINOR;
  return [
    isOld
      ? fault(
          `Kubernetes ${gitVersion} is older than 1.${OLDEST_MINOR}, the oldest version that is supported.`,
          'Update the cluster.',
        )
      : ok(`Kubernetes ${gitVersion}.`),
  ];
}

/** Checks that the CRDs of all kinds are installed, in the version of this program. */
export async function checkDefinitions({ api }: Cluster): Promise<Finding[]> {
  const definitions = await Promise.all(
    kinds.map(async ({ plural }) => {
      const name = `${plural}.${API_GROUP}`;
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
      const crd = await api.request<Crd>({ method: 'GET', path }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      return { name, crd };
    }),
  );
  const faults = definitions.flatMap(({ name, crd }) => {
    const { fault } = about('definitions', `CRD ${name}`);
    if (!crd)
      return [
        fault('The cluster does not have it.', `Apply the CRDs of version ${version} (dist/crds.yaml).`),
      ];
    const other = crd.metadata.labels?.[VERSION_LABEL];
    if (!crd.spec.versions.some(({ name: served, served: isServed }) => served === API_VERSION && isServed))
      return [fault(`It does not serve ${API_VERSION}.`, `Apply the CRDs of version ${version}.`)];
    if (other !== undefined && other !== version)
      return [
        fault(
          `It is of version ${other}, and this program of ${version}.`,
          `Apply the CRDs of version ${version}, or use the program of version ${other}.`,
        ),
      ];
    return [];
  });
  return faults.length > 0 ? faults : [about('definitions', 'cluster').ok(`All of version ${version}.`)];
}

/**
 * Checks that the operator runs in the version of the CRDs, and that its service account has the necessary
 * permissions.
 */
export async function checkOperator(cluster: Cluster, now: number): Promise<Finding[]> {
  const { skipped } = about('operator', 'cluster');
  const selector = Object.entries(OPERATOR_LABELS).map(([key, value]) => `${key}=${value}`);
  const { items } = await cluster.api.request<{ items: readonly Deployment[] }>({
    method: 'GET',
    path: '/apis/apps/v1/deployments',
    query: { labelSelector: selector.join(',') },
  });
  if (items.length === 0)
    return [skipped('There is no Deployment of the operator: it may run outside of the cluster.')];
  const each = await Promise.all(items.map((deployment) => checkDeployment(cluster, deployment, now)));
  return [...sharedNamespaces(items), ...each.flat()];
}

/**
 * Finds namespaces that two operators reconcile without sharing a Lease. Each would undo the writes of the
 * other.
 */
function sharedNamespaces(deployments: readonly Deployment[]): Finding[] {
  const { fault } = about('operator', 'cluster');
  const working = deployments.filter(({ spec }) => spec.replicas !== 0);
  return working.flatMap((first, index) =>
    working.slice(index + 1).flatMap((second) => {
      const shared = sharedBy(installationOf(first), installationOf(second));
      if (shared === undefined) return [];
      return [
        fault(
          `The Deployments ${shownName(first)} and ${shownName(second)} ${shared}: each takes back what the other one writes.`,
          'Uninstall one of them, or give each of them namespaces of its own (WATCH_NAMESPACES).',
        ),
      ];
    }),
  );
}

const shownName = ({ metadata: { namespace, name } }: Deployment): string => `${namespace}/${name}`;

async function checkDeployment(cluster: Cluster, deployment: Deployment, now: number): Promise<Finding[]> {
  const { ok, fault } = about('operator', 'cluster');
  const { name, namespace = '', labels } = deployment.metadata;
  const other = labels?.[VERSION_LABEL];
  return [
    (deployment.status?.availableReplicas ?? 0) > 0
      ? ok(`The Deployment ${namespace}/${name} is available.`)
      : await judgeLease(cluster, deployment, now),
    ...(other !== undefined && other !== version
      ? [
          fault(
            `The operator is of version ${other}, and this program of ${version}.`,
            'Install the operator, its CRDs and this program in one version.',
          ),
        ]
      : []),
    ...(await checkAccountRights(
      cluster,
      namespace,
      deployment.spec.template.spec.serviceAccountName ?? name,
    )),
  ];
}

/**
 * Judges the Lease. The operator may run as a process outside of its Deployment, as in a sandbox: that
 * process then holds the Lease.
 */
async function judgeLease({ api }: Cluster, deployment: Deployment, now: number): Promise<Finding> {
  const { ok, fault } = about('operator', 'cluster');
  const { namespace, settings } = installationOf(deployment);
  const leaseName = settings?.leaseName ?? ''; // settings that cannot be read prevent the start of the pod
  const found = leaseName === '' ? undefined : api.find<Lease>(builtin.Lease, namespace, leaseName);
  const lease = found && (await undefinedIf(isForbidden, found));
  const {
    holderIdentity: holder,
    renewTime = '',
    acquireTime = '',
    leaseDurationSeconds = 0,
  } = lease?.spec ?? {};
  const age = now - Date.parse(renewTime);
  if (holder && age < leaseDurationSeconds * 1_000 + MAX_CLOCK_SKEW)
    return ok(
      `${holder} is the operator: it holds the Lease ${namespace}/${leaseName} since ${acquireTime}.`,
    );
  const last = holder ? ` ${holder} has renewed its Lease last at ${renewTime}.` : '';
  return fault(
    `No pod of the Deployment ${shownName(deployment)} is ready.${last}`,
    `kubectl describe pods -n ${namespace} says why.`,
  );
}

interface Right {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
}

/** Permissions that kubectl needs to forward a port to a pod of a Service. */
const portForwardRights: readonly Right[] = [
  { group: '', resource: 'services', verb: 'get' },
  { group: '', resource: 'pods', verb: 'get' },
  { group: '', resource: 'pods', verb: 'list' },
  { group: '', resource: 'pods', subresource: 'portforward', verb: 'create' },
];

/** Checks that the user of this command has the permissions that the commands need. */
export async function checkUserRights(cluster: Cluster): Promise<Finding[]> {
  const needed: readonly Right[] = [
    ...kinds.flatMap(({ plural }) =>
      ['get', 'list', 'patch'].map((verb) => ({ group: API_GROUP, resource: plural, verb })),
    ),
    { group: '', resource: 'secrets', verb: 'get' },
    { group: '', resource: 'pods', subresource: 'log', verb: 'get' },
    ...(cluster.isInside ? [] : portForwardRights),
    { group: 'apps', resource: 'statefulsets', verb: 'patch' },
  ];
  return rightsFindings('your rights', 'You may not', needed, (right) =>
    review(cluster, 'selfsubjectaccessreviews', right),
  );
}

function checkAccountRights(cluster: Cluster, namespace: string, account: string): Promise<Finding[]> {
  const needed: readonly Right[] = kinds.flatMap(({ plural, access }) => [
    ...['get', 'list', 'watch', 'patch'].map((verb) => ({ group: API_GROUP, resource: plural, verb })),
    { group: API_GROUP, resource: plural, subresource: 'status', verb: 'patch' },
    ...access.flatMap(({ apiGroup, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => ({ group: apiGroup, resource, verb }))),
    ),
  ]);
  const user = `system:serviceaccount:${namespace}:${account}`;
  return rightsFindings(`rights of the operator`, `${user} may not`, needed, (right) =>
    review(cluster, 'subjectaccessreviews', right, { user }),
  );
}

async function rightsFindings(
  check: string,
  subject: string,
  needed: readonly Right[],
  isAllowed: (right: Right) => Promise<boolean>,
): Promise<Finding[]> {
  const { ok, fault, skipped } = about(check, 'cluster');
  const unique = [...new Map(needed.map((right) => [nameOf(right), right])).values()];
  try {
    const allowed = await Promise.all(unique.map(isAllowed));
    const missing = unique.filter((_, index) => !allowed[index]);
    if (missing.length === 0) return [ok('All that is needed is allowed.')];
    const remedy = 'Apply the roles of this version, or ask for a role with these rights.';
    if (missing.length === unique.length)
      return [
        fault(
          `${subject} do anything that is needed: no role is bound.`,
          'Apply the ClusterRoleBinding or RoleBinding of this version, or ask for one.',
        ),
      ];
    return [fault(`${subject} ${grouped(missing)}.`, remedy)];
  } catch (error) {
    if (isForbidden(error)) return [skipped(`It may not be asked: ${error.message}`)];
    throw error;
  }
}

/** Lists permissions: `get and list pods, secrets; patch hubs in hub-operator.dev`. */
function grouped(rights: readonly Right[]): string {
  const verbs = new Map<string, string[]>();
  for (const { group, resource, subresource, verb } of rights) {
    const key = `${resource}${subresource ? `/${subresource}` : ''} ${group}`;
    verbs.set(key, [...(verbs.get(key) ?? []), verb]);
  }
  const resources = new Map<string, string[]>();
  for (const [key, some] of verbs) {
    const [name = '', group = ''] = key.split(' ');
    const place = `${some.join(', ')} ${group}`;
    resources.set(place, [...(resources.get(place) ?? []), name]);
  }
  return [...resources]
    .map(([place, names]) => {
      const at = place.lastIndexOf(' ');
      const group = place.slice(at + 1);
      return `${place.slice(0, at)} ${names.join(', ')}${group ? ` in ${group}` : ''}`;
    })
    .join('; ');
}

const nameOf = ({ verb, resource, subresource, group }: Right): string =>
  `${verb} ${resource}${subresource ? `/${subresource}` : ''}${group ? `.${group}` : ''}`;

async function review(
  { api, namespace }: Cluster,
  plural: string,
  right: Right,
  who: object = {},
): Promise<boolean> {
  const { status } = await api.request<{ status: { allowed: boolean } }>({
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/${plural}`,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: plural.startsWith('self') ? 'SelfSubjectAccessReview' : 'SubjectAccessReview',
      spec: { ...who, resourceAttributes: { namespace, ...right } },
    },
  });
  return status.allowed;
}

interface WebhookConfiguration extends ClusterObject {
  readonly webhooks?: readonly {
    readonly clientConfig: {
      readonly caBundle?: string;
      readonly service?: { readonly namespace: string; readonly name: string };
    };
  }[];
}

interface EndpointSlices {
  readonly items: readonly {
    readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[] | null;
  }[];
}

/** Checks that the API server can reach the webhook. */
export async function checkWebhook({ api }: Cluster): Promise<Finding[]> {
  const { ok, fault, skipped } = about('webhook', 'cluster');
  const found = await api.find<WebhookConfiguration>(
    builtin.ValidatingWebhookConfiguration,
    undefined,
    WEBHOOK.configuration,
  );
  const { caBundle, service } = found?.webhooks?.[0]?.clientConfig ?? {};
  if (!found) return [skipped('It is not registered: resources are checked by the reconciliation alone.')];
  if (!caBundle)
    return [
      fault(
        'Its registration has no certificate authority, so the API server cannot call it.',
        'The operator writes it within a minute of its start: read its log. With cert-manager, read the Certificate.',
      ),
    ];
  if (!service) return [ok('It is registered by an address.')];
  const { items } = await api.request<EndpointSlices>({
    method: 'GET',
    path: `/apis/discovery.k8s.io/v1/namespaces/${service.namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${service.name}` },
  });
  const isReached = items
    .flatMap(({ endpoints }) => endpoints ?? [])
    .some(({ conditions }) => conditions?.ready !== false);
  return [
    isReached
      ? ok('It is registered, and its Service has a ready pod.')
      : fault(
          `The Service ${service.namespace}/${service.name} has no ready pod: resources are stored unchecked.`,
          `kubectl get pods -n ${service.namespace} says whether the operator runs.`,
        ),
  ];
}

/** Checks that the clocks of this machine and of the API server agree. */
export async function checkClock({ api, namespace }: Cluster, now: () => number): Promise<Finding[]> {
  const { ok, fault } = about('clock', 'cluster');
  const { metadata } = await api.request<ClusterObject>({
    method: 'POST',
    path: pathOf(builtin.ConfigMap, namespace),
    query: { dryRun: 'All' },
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'kubectl-hub-clock-' } },
  });
  const skew = now() - Date.parse(metadata.creationTimestamp ?? '');
  return [
    Math.abs(skew) > MAX_CLOCK_SKEW
      ? fault(
          `This machine and the API server differ by ${Math.round(Math.abs(skew) / 1_000)} s.`,
          'Set the clock of both by NTP: tokens and certificates are refused otherwise.',
        )
      : ok('The clocks of this machine and the API server agree.'),
  ];
}
