import { kubectl, mustKubectl, until } from '../cluster';
import { automation, configuration, hub } from '../cluster/home';
import { dist, install } from '../node-cluster';
import { NodeHome } from '../node-cluster/home';

let home: NodeHome;

/** A Hub whose pod never runs has the same finalizers as one whose pod does. */
beforeEach(async () => {
  await install();
  home = await NodeHome.make('uninstall');
  await home.apply(
    hub('villa', { podTemplate: { spec: { nodeSelector: { there: 'is-none' } } } }),
    configuration('villa'),
    automation('villa', 'lamp'),
  );
  for (const [kind, name] of [
    ['hub', 'villa'],
    ['hubautomation', 'lamp'],
  ] as const)
    await until(`${kind} ${name} has a finalizer`, async () =>
      Boolean((await home.get(kind, name)).metadata.finalizers?.length),
    );
});

// Installs the operator again, which other test files need.
afterAll(install);

const definitions = async () =>
  (await mustKubectl(['get', 'customresourcedefinitions', '--output=name']))
    .split('\n')
    .filter((name) => name.endsWith('.hub-operator.dev'));

describe('the operator is uninstalled', () => {
  test('kinds first: no object is left', async () => {
    await mustKubectl(['delete', '-f', dist('crds.yaml'), '--timeout=300s']);
    expect(await definitions()).toEqual([]);
    await mustKubectl(['delete', '-f', dist('install.yaml'), '--ignore-not-found', '--timeout=300s']);
    expect(await home.exists('namespace', 'hub-operator')).toBe(false);
  });

  test('before the kinds: resources wait for the operator’s finalizers, and are gone when those are removed by hand', async () => {
    await mustKubectl(['delete', 'namespace', 'hub-operator', '--timeout=300s']);
    const { code, stderr } = await kubectl(['delete', '-f', dist('crds.yaml'), '--timeout=10s']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('timed out') as string });
    // The commands are those of docs/how-to/troubleshoot.md.
    for (const object of ['hub/villa', 'hubautomation/lamp'])
      await mustKubectl(
        ['patch', object, '--type=json', '--patch=[{"op":"remove","path":"/metadata/finalizers"}]'],
        { namespace: home.namespace },
      );
    await mustKubectl(['delete', '-f', dist('crds.yaml'), '--ignore-not-found', '--timeout=300s']);
    expect(await definitions()).toEqual([]);
  });
});
