import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { API_GROUP } from '../../operator/kinds/group';
import { freshNamespace, kubectl, mustKubectl, until } from '../cluster';
import { expectStrictDryRun } from './strict-dry-run';
import { readManifests } from '../../manifests/read-manifests';

/** The operator's own objects, as `dist/` has them. */

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: { readonly spec: Record<string, unknown> & { containers: Record<string, unknown>[] } };
  };
}

const manifests = readManifests('dist/install.yaml') as Manifest[];
const ofKind = (...kinds: string[]) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: manifests.filter(({ kind }) => kinds.includes(kind)),
  });

// The Deployment is left out, because the sandbox has no image of the operator.
beforeAll(async () => {
  const stored = ofKind(
    'Namespace',
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
    'Role',
    'RoleBinding',
  );
  await mustKubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: stored });
});

test.each(['install', 'namespaced/install'])(
  'the API server accepts every object of dist/%s.yaml without a warning',
  (name) => expectStrictDryRun(`dist/${name}.yaml`),
);

describe('under Pod Security restricted', () => {
  const { spec } = manifests.find(({ kind }) => kind === 'Deployment')!.spec.template;
  const create = (changed: object) =>
    kubectl(['create', '--dry-run=server', '-f', '-'], {
      namespace: NAMESPACE,
      input: JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probe' }, spec: changed }),
    });

  test('the pod is admitted', async () => {
    expect(await create(spec)).toMatchObject({ code: 0 });
  });

  test('a pod with less is not, so the namespace does enforce it', async () => {
    const containers = spec.containers.map(({ securityContext: _, ...container }) => container);
    // The API server learns of the namespace's labels through a watch.
    await until('it is refused', async () => {
      const { stderr } = await create({ ...spec, containers });
      expect(stderr).toContain('violates PodSecurity "restricted');
      return true;
    });
  });
});

/**
 * Returns whether a user may do each of these: `<verb> <resource>[.<group>][/<subresource>][ <name>]`. The
 * function needs only one call, whereas `kubectl auth can-i` answers one question each.
 */
async function access(
  user: string,
  questions: readonly string[],
  namespace: string,
): Promise<Record<string, boolean>> {
  const items = questions.map((question) => {
    const [, verb, resource, group = '', subresource = '', name = ''] =
      /^(\w+) (\w+)(?:\.([\w.-]+))?(?:\/(\w+))?(?: (\S+))?$/.exec(question)!;
    return {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, resource, group, subresource, name, namespace } },
    };
  });
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const output = 'jsonpath={.status.allowed}{"\\n"}';
  const printed = await mustKubectl(['create', `--as=${user}`, '-o', output, '-f', '-'], { input });
  const answers = printed
    .trim()
    .split('\n')
    .map((line) => line === 'true');
  return Object.fromEntries(questions.map((question, index) => [question, answers[index]!]));
}

/**
 * Waits for the rights, because the API server learns of roles through a watch, and the controller manager
 * has to add our rules to the cluster's own roles.
 */
function expectAccess(user: string, rights: Readonly<Record<string, boolean>>, namespace: string) {
  return until(`${user} has these rights`, async () => {
    expect(await access(user, Object.keys(rights), namespace)).toEqual(rights);
    return true;
  });
}

describe('the operator’s account', () => {
  const account = `system:serviceaccount:${NAMESPACE}:${OPERATOR}`;

  test('may do what it must, and no more', () =>
    expectAccess(
      account,
      {
        [`watch hubs.${API_GROUP}`]: true,
        [`patch hubautomations.${API_GROUP}/status`]: true,
        [`patch hubfloors.${API_GROUP}`]: true,
        'create statefulsets.apps': true,
        'create pods': true, // pods that install community repositories
        'delete pods': true,
        'patch secrets': true,
        'create events': true,
        [`create hubs.${API_GROUP}`]: false,
        [`delete hubautomations.${API_GROUP}`]: false,
        [`update hubautomations.${API_GROUP}/status`]: false,
        'create pods/exec': false,
        'get nodes': false,
        'update clusterroles.rbac.authorization.k8s.io': false,
        'create leases.coordination.k8s.io': false,
      },
      'default',
    ));

  test('may change the registration of its own webhook alone', () =>
    expectAccess(
      account,
      {
        'patch validatingwebhookconfigurations.admissionregistration.k8s.io hub-operator': true,
        'patch validatingwebhookconfigurations.admissionregistration.k8s.io other': false,
        'create validatingwebhookconfigurations.admissionregistration.k8s.io': false,
      },
      '',
    ));

  test('has its lease in its own namespace', () =>
    expectAccess(account, { 'create leases.coordination.k8s.io': true }, NAMESPACE));
});

describe('people with the roles that clusters give them', () => {
  let namespace: string;
  beforeAll(async () => {
    namespace = await freshNamespace('people');
    for (const role of ['view', 'edit', 'admin'])
      await mustKubectl(['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}`], {
        namespace,
      });
  });

  const ofAutomations = (verbs: readonly string[], isAllowed: boolean) =>
    Object.fromEntries(verbs.map((verb) => [`${verb} hubautomations.${API_GROUP}`, isAllowed]));

  test('a viewer may read our kinds, and change none', () =>
    expectAccess(
      'view',
      {
        [`list hubs.${API_GROUP}`]: true,
        ...ofAutomations(['create', 'patch', 'delete'], false),
      },
      namespace,
    ));

  test('an editor may change our kinds, except hubs, community repositories, and status', () =>
    expectAccess(
      'edit',
      {
        [`create hubs.${API_GROUP}`]: false,
        [`patch hubcommunityrepositories.${API_GROUP}`]: false,
        ...ofAutomations(['get', 'watch', 'update', 'delete', 'deletecollection'], true),
        [`patch hubautomations.${API_GROUP}/status`]: false,
      },
      namespace,
    ));

  test('an administrator of the namespace may change all of our kinds', () =>
    expectAccess(
      'admin',
      {
        [`create hubs.${API_GROUP}`]: true,
        [`patch hubcommunityrepositories.${API_GROUP}`]: true,
        ...ofAutomations(['update', 'delete'], true),
        [`patch hubs.${API_GROUP}/status`]: false,
      },
      namespace,
    ));
});
