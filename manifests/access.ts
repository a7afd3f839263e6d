import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { communityRepository, hub, kinds } from '../operator/kinds';
import { API_GROUP } from '../operator/kinds/group';
import type { AccessRule } from '../operator/kinds/kind';
import { WEBHOOK } from '../operator/kinds/object-names';
import { installationLabels, OPERATOR } from './names';
import type { SynthSettings, WebhookCertificate } from './settings';

/**
 * The RBAC objects: the rights of the operator, as few as its kinds need, and those of people, through the
 * cluster's own roles.
 */
export class Access extends Construct {
  constructor(parent: Construct, { scope, webhook, namespace }: SynthSettings) {
    super(parent, 'access');
    const subjects = [accountIn(namespace)];

    if (scope === 'cluster') {
      new ApiObject(this, 'cluster-role', {
        ...rbac('ClusterRole'),
        metadata: { name: OPERATOR },
        rules: clusterRules().map(policyRule),
      });
      new ApiObject(this, 'cluster-role-binding', {
        ...rbac('ClusterRoleBinding'),
        metadata: { name: OPERATOR },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: OPERATOR },
        subjects,
      });
    }
    new ApiObject(this, 'leader-role', {
      ...rbac('Role'),
      metadata: { name: `${OPERATOR}-leader`, namespace },
      rules: leaderRules.map(policyRule),
    });
    new ApiObject(this, 'leader-role-binding', {
      ...rbac('RoleBinding'),
      metadata: { name: `${OPERATOR}-leader`, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: `${OPERATOR}-leader` },
      subjects,
    });
    if (webhook) this.addWebhookRoles(webhook, namespace);
    for (const [name, { aggregation, rules }] of Object.entries(rolesOfPeople))
      new ApiObject(this, name, {
        ...rbac('ClusterRole'),
        metadata: { name: `${OPERATOR}-${name}`, labels: aggregation },
        rules,
      });
  }

  /**
   * Allows access to the Secret with the webhook's certificate and, if the operator makes that certificate,
   * to the field `caBundle`.
   */
  private addWebhookRoles(certificate: WebhookCertificate, namespace: string): void {
    const subjects = [accountIn(namespace)];
    const name = `${OPERATOR}-webhook`;
    const read = ['get', 'list', 'watch'];
    const isSelfSigned = certificate === 'self-signed';
    const secrets = { apiGroups: [''], resources: ['secrets'] };
    new ApiObject(this, 'webhook-role', {
      ...rbac('Role'),
      metadata: { name, namespace },
      rules: [
        // RBAC cannot restrict `create` to the name of an object.
        ...(isSelfSigned ? [{ ...secrets, verbs: ['create'] }] : []),
        { ...secrets, resourceNames: [WEBHOOK.secret], verbs: isSelfSigned ? [...read, 'patch'] : read },
      ],
    });
    new ApiObject(this, 'webhook-role-binding', {
      ...rbac('RoleBinding'),
      metadata: { name, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects,
    });
    if (!isSelfSigned) return;
    new ApiObject(this, 'webhook-cluster-role', {
      ...rbac('ClusterRole'),
      metadata: { name },
      rules: [
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingwebhookconfigurations'],
          resourceNames: [WEBHOOK.configuration],
          verbs: [...read, 'patch'],
        },
      ],
    });
    new ApiObject(this, 'webhook-cluster-role-binding', {
      ...rbac('ClusterRoleBinding'),
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects,
    });
  }
}

/** The operator's rights in one namespace, which `kubectl apply --namespace` or a kustomization names. */
export class WatchedNamespace extends Chart {
  /** @param namespace where the operator runs */
  constructor(app: Construct, namespace: string) {
    super(app, 'roles', { labels: installationLabels });
    const subjects = [accountIn(namespace)];
    new ApiObject(this, 'role', {
      ...rbac('Role'),
      metadata: { name: OPERATOR },
      rules: operatorRules().map(policyRule),
    });
    new ApiObject(this, 'role-binding', {
      ...rbac('RoleBinding'),
      metadata: { name: OPERATOR },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: OPERATOR },
      subjects,
    });
  }
}

const ours = kinds.map(({ plural }) => plural);
/**
 * Kinds that only administrators may write. Through them the operator makes objects that `edit` may not make,
 * such as routes and Certificates, and installs third-party code.
 */
const ofAdministrators: readonly string[] = [hub.plural, communityRepository.plural];

/**
 * Rights on the Lease and its events in the operator's own namespace, which need not be one of the watched
 * namespaces.
 */
export const leaderRules: readonly AccessRule[] = [
  {
    apiGroup: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'create', 'update', 'patch'],
  },
  { apiGroup: '', resources: ['events'], verbs: ['create'] },
];

/** The right to see which namespaces have the label of `WATCH_NAMESPACE_SELECTOR`. */
const namespaceRule: AccessRule = { apiGroup: '', resources: ['namespaces'], verbs: ['list', 'watch'] };

const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Adds our kinds to the roles that clusters give people (`view`, `edit`, `admin`). */
export const rolesOfPeople = {
  view: personRole(['view', 'edit', 'admin'], ours, ['get', 'list', 'watch']),
  edit: personRole(
    ['edit', 'admin'],
    ours.filter((plural) => !ofAdministrators.includes(plural)),
    WRITE,
  ),
  admin: personRole(['admin'], ofAdministrators, WRITE),
};

function personRole(into: readonly string[], resources: readonly string[], verbs: readonly string[]) {
  return {
    aggregation: Object.fromEntries(
      into.map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']),
    ),
    rules: [policyRule({ apiGroup: API_GROUP, resources, verbs })],
  };
}

/**
 * Permissions of the runtime itself and of each kind's sync module, with one rule for resources that have
 * equal verbs.
 */
export function operatorRules(): readonly AccessRule[] {
  return merged([
    { apiGroup: API_GROUP, resources: ours, verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroup: API_GROUP, resources: ours.map((plural) => `${plural}/status`), verbs: ['patch'] },
    { apiGroup: '', resources: ['events'], verbs: ['create', 'patch'] },
    ...kinds.flatMap(({ access }) => access),
  ]);
}

/** The rights of an operator that works in the whole cluster. */
export const clusterRules = (): readonly AccessRule[] => merged([...operatorRules(), namespaceRule]);

/**
 * Merges rules into one verb list per resource, then one rule per API group and verb list. The rules are
 * sorted, so that the output is stable.
 */
export function merged(rules: readonly AccessRule[]): readonly AccessRule[] {
  const verbs = new Map<string, Set<string>>();
  for (const { apiGroup, resources, verbs: allowed } of rules)
    for (const resource of resources) {
      const key = `${apiGroup}/${resource}`;
      verbs.set(key, new Set([...(verbs.get(key) ?? []), ...allowed]));
    }
  const byVerbs = new Map<string, { apiGroup: string; resources: string[]; verbs: string[] }>();
  for (const [name, allowed] of [...verbs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [apiGroup = '', ...resource] = name.split('/');
    const sorted = [...allowed].sort((a, b) => verbOrder.indexOf(a) - verbOrder.indexOf(b));
    const key = [apiGroup, ...sorted].join(' ');
    const rule = byVerbs.get(key) ?? { apiGroup, resources: [], verbs: sorted };
    rule.resources.push(resource.join('/'));
    byVerbs.set(key, rule);
  }
  return [...byVerbs.values()];
}

const verbOrder = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

export function policyRule({ apiGroup, resources, verbs }: AccessRule) {
  return { apiGroups: [apiGroup], resources: [...resources], verbs: [...verbs] };
}

/** The account of the operator, as the subject of a binding. */
function accountIn(namespace: string) {
  return { kind: 'ServiceAccount', name: OPERATOR, namespace };
}

function rbac(kind: string) {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind };
}
