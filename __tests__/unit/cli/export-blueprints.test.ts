import { readBlueprints } from '../../../cli/export/blueprints';
import { HubRejected } from '../../../operator/client/connection/errors';
import type { HubClient } from '../../../operator/client/hub-client';

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
  const found = await readBlueprints({ blueprints: { list } } as unknown as HubClient);
  expect(found.map(({ object }) => object)).toEqual([
    'blueprint automation/broken.yaml',
    'blueprint automation/me/lamp.yaml, imported from https://example.org/lamp',
    'blueprint script/me/night.yaml',
  ]);
  expect(found[2]?.reason).toContain('copy /config/blueprints/script/me/night.yaml into a HubBlueprint');
});
