import type { Cluster } from '../../../cli/cluster';
import { blueprintsInCluster, readBlueprints } from '../../../cli/export/blueprints';
import { HubRejected } from '../../../operator/client/connection/errors';
import { ApiError } from '../../../operator/runtime/api-errors';
import { hubClient } from '../stand-in-hub/hub-client';

test('blueprints are listed with their source and the way out, but for those of the hub and of the operator', async () => {
  const lists: Readonly<Record<string, object>> = {
    automation: {
      'me/lamp.yaml': { metadata: { source_url: 'https://example.org/lamp' } },
      'homeassistant/motion_light.yaml': { metadata: {} },
      [`hub-operator-check/${'0'.repeat(64)}.yaml`]: { metadata: {} },
      'broken.yaml': {},
    },
    script: { 'me/night.yaml': { metadata: {} } },
  };
  const list = (domain: string) =>
    lists[domain]
      ? Promise.resolve(new Map(Object.entries(lists[domain])))
      : Promise.reject(new HubRejected('invalid_format', 'Unsupported domain'));
  const found = await readBlueprints(hubClient({ blueprints: { list } }), new Set());
  expect(found.map(({ object }) => object)).toEqual([
    'blueprint automation/broken.yaml',
    'blueprint automation/me/lamp.yaml, imported from https://example.org/lamp',
    'blueprint script/me/night.yaml',
  ]);
  expect(found[2]?.reason).toContain('copy /config/blueprints/script/me/night.yaml into a HubBlueprint');
});

test('a blueprint that a HubBlueprint of the hub describes is not listed', async () => {
  const spec = (hub: string, path: string) => ({
    spec: { hubRef: { name: hub }, domain: 'automation', path },
  });
  const items = [spec('villa', 'me/lamp.yaml'), spec('barn', 'me/gate.yaml')];
  const described = await blueprintsInCluster(
    { list: () => Promise.resolve(items) } as unknown as Cluster,
    'villa',
  );
  const list = (domain: string) =>
    Promise.resolve(
      new Map(
        domain === 'automation'
          ? [
              ['me/lamp.yaml', {}],
              ['me/gate.yaml', {}],
            ]
          : [],
      ),
    );
  const found = await readBlueprints(hubClient({ blueprints: { list } }), described);
  expect(found.map(({ object }) => object)).toEqual(['blueprint automation/me/gate.yaml']);
});

test('a user who may not list HubBlueprints gets all blueprints of the hub', async () => {
  const forbidden = new ApiError(403, 'Forbidden', 'no');
  const cluster = { list: () => Promise.reject(forbidden) } as unknown as Cluster;
  expect(await blueprintsInCluster(cluster, 'villa')).toEqual(new Set());
});
