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

// Without the Deployment: the sandbox has no image of the operator.
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
    // The API server learns of the namespace's labels by a watch.
    await until('it is refused', async () => {
      const { stderr } = await create({ ...spec, containers });
      expect(stderr).toContain('violates PodSecurity "restricted');
      return true;
    });
  });
});

describe('the operator’s account', () => {
  const can = async (verb: string, resource: string, namespace = 'default') => {
    const account = `--as=system:serviceaccount:${NAMESPACE}:${OPERATOR}`;
    return (
      await kubectl(['auth', 'can-i', verb, ...resource.split(' '), account], { namespace })
    ).stdout.trim();
  };

  /** The API server learns of roles by a watch. */
  const may = (verb: string, resource: string, namespace?: string) =>
    until(`it may ${verb} ${resource}`, async () => (await can(verb, resource, namespace)) === 'yes');

  test.each([
    ['watch', `hubs.${API_GROUP}`],
    ['patch', `hubautomations.${API_GROUP}/status`],
    ['patch', `hubfloors.${API_GROUP}`],
    ['create', 'statefulsets.apps'],
    ['create', 'pods'], // that load community repositories
    ['delete', 'pods'],
    ['patch', 'secrets'],
    ['create', 'events'],
  ])('may %s %s', async (verb, resource) => expect(await may(verb, resource)).toBe(true));

  test.each([
    ['create', `hubs.${API_GROUP}`],
    ['delete', `hubautomations.${API_GROUP}`],
    ['create', 'pods --subresource=exec'],
    ['get', 'nodes'],
    ['update', 'clusterroles.rbac.authorization.k8s.io'],
    ['create', 'leases.coordination.k8s.io'],
  ])('may not %s %s', async (verb, resource) => expect(await can(verb, resource)).toBe('no'));

  test('may change the registration of its own webhook alone', async () => {
    expect(await may('patch', 'validatingwebhookconfigurations/hub-operator')).toBe(true);
    expect(await can('patch', 'validatingwebhookconfigurations/other')).toBe('no');
    expect(await can('create', 'validatingwebhookconfigurations')).toBe('no');
  });

  test('has its lease in its own namespace', async () =>
    expect(await may('create', 'leases.coordination.k8s.io', NAMESPACE)).toBe(true));
});

describe('people with the roles that clusters give them', () => {
  let namespace: string;
  beforeAll(async () => {
    namespace = await freshNamespace('people');
    for (const role of ['view', 'edit'])
      await mustKubectl(['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}`], {
        namespace,
      });
  });

  const can = async (user: string, verb: string, resource: string) =>
    (
      await kubectl(['auth', 'can-i', verb, ...resource.split(' '), `--as=${user}`], { namespace })
    ).stdout.trim();

  test('a viewer may read our kinds, and change none', async () => {
    // The controller manager adds our rules to the cluster's own roles a moment after they are installed.
    await until(
      'a viewer may list Hubs',
      async () => (await can('view', 'list', `hubs.${API_GROUP}`)) === 'yes',
    );
    for (const verb of ['create', 'patch', 'delete'])
      expect(await can('view', verb, `hubautomations.${API_GROUP}`)).toBe('no');
  });

  test('an editor may change our kinds, but not their status', async () => {
    await until(
      'an editor may create Hubs',
      async () => (await can('edit', 'create', `hubs.${API_GROUP}`)) === 'yes',
    );
    // What a viewer may do reaches this role in a second step.
    for (const verb of ['get', 'watch', 'update', 'delete', 'deletecollection'])
      await until(
        `an editor may ${verb} automations`,
        async () => (await can('edit', verb, `hubautomations.${API_GROUP}`)) === 'yes',
      );
    expect(await can('edit', 'patch', `hubs.${API_GROUP} --subresource=status`)).toBe('no');
  });
});
