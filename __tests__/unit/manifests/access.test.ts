import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { merged, operatorRules } from '../../../manifests/access';
import { kinds } from '../../../operator/kinds';
import { readManifests } from '../../../manifests/read-manifests';

test('rules for one resource become one, and resources with equal verbs share a rule', () => {
  const rules = merged([
    { apiGroup: '', resources: ['secrets', 'pods'], verbs: ['list', 'get'] },
    { apiGroup: '', resources: ['pods'], verbs: ['delete', 'get'] },
    { apiGroup: '', resources: ['configmaps'], verbs: ['get', 'list'] },
    { apiGroup: 'apps', resources: ['statefulsets'], verbs: ['get', 'list'] },
  ]);
  expect(rules).toEqual([
    { apiGroup: '', resources: ['configmaps', 'secrets'], verbs: ['get', 'list'] },
    { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'delete'] },
    { apiGroup: 'apps', resources: ['statefulsets'], verbs: ['get', 'list'] },
  ]);
});

test('the operator’s role has the permissions of every kind', () => {
  const allowed = new Set(
    operatorRules().flatMap(({ apiGroup, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${apiGroup}/${resource}`)),
    ),
  );
  for (const { access } of kinds)
    for (const { apiGroup, resources, verbs } of access)
      for (const resource of resources)
        for (const verb of verbs) expect(allowed).toContain(`${verb} ${apiGroup}/${resource}`);
});

test('the operator’s role has no wildcard, and no way into a pod', () => {
  const rules = JSON.stringify(operatorRules());
  expect(rules).not.toContain('*');
  expect(rules).not.toMatch(/exec|attach|portforward|escalate|impersonate|bind/);
});

test('the operator’s role has no verb that nothing uses', () => {
  const rules = operatorRules();
  expect(rules.some(({ resources }) => resources.some((resource) => resource.endsWith('/finalizers')))).toBe(
    false,
  );
  expect(rules.find(({ resources }) => resources.includes('pods'))?.verbs).not.toContain('update');
});

describe('the namespaced variant', () => {
  const synthesized = (name: string) =>
    readManifests(`dist/${name}.yaml`) as { kind: string; rules?: unknown }[];

  test('has no rights in the whole cluster except those of people', () => {
    const kindsOf = (name: string) => synthesized(name).map(({ kind }) => kind);
    expect(kindsOf('install')).toContain('ClusterRoleBinding');
    expect(kindsOf('namespaced/install')).not.toContain('ClusterRoleBinding');
  });

  test('says at the head of each file of a watched namespace that it needs a namespace', () => {
    const folder = 'dist/watched-namespace';
    const files = readdirSync(folder);
    expect(files).toContain('roles.yaml');
    for (const file of files)
      expect(readFileSync(join(folder, file), 'utf8')).toMatch(/^# Apply with --namespace, /);
  });

  test('gives the operator the same rights in a namespace that it otherwise has in the cluster', () => {
    const [role] = synthesized('watched-namespace/roles');
    const clusterRole = synthesized('install').find(({ kind }) => kind === 'ClusterRole');
    expect(role).toMatchObject({ kind: 'Role', metadata: { name: 'hub-operator' } });
    expect(role).not.toHaveProperty('metadata.namespace');
    // The labels of namespaces can only be read with rights in the whole cluster.
    const ofNamespaces = { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] };
    expect(clusterRole!.rules).toContainEqual(ofNamespaces);
    expect(role!.rules).toEqual(
      (clusterRole!.rules as { resources: string[] }[]).filter(
        ({ resources: [first] }) => first !== 'namespaces',
      ),
    );
  });
});
