import { untilBlueprintReady } from '../../../../operator/sync/config-entities/blueprint';
import type { Child } from '../../../../operator/sync/objects/child';
import { services } from '../fixtures';

const PATH = 'tests/lamp.yaml';

/** A HubBlueprint whose condition Ready has this status. */
const blueprint = (name: string, status: 'True' | 'False', fields: object = {}) => ({
  kind: 'HubBlueprint',
  metadata: { name, namespace: 'home', ...fields },
  spec: { hubRef: { name: 'villa' }, domain: 'automation', path: PATH },
  status: { conditions: [{ type: 'Ready', status }] },
});

const until = (...blueprints: object[]) =>
  untilBlueprintReady(services({ cache: { ofHub: () => blueprints as never } }), 'automation', {
    payload: { use_blueprint: { path: PATH } },
    resource: { metadata: { namespace: 'home' }, spec: { hubRef: { name: 'villa' } } } as Child,
  });

describe('untilBlueprintReady', () => {
  test('waits for the HubBlueprint of the path', () => {
    expect(until(blueprint('lamp', 'False'))).toMatchObject({ reason: 'BlueprintNotReady' });
    expect(until(blueprint('lamp', 'True'))).toBeUndefined();
    expect(until(blueprint('lamp', 'False', { deletionTimestamp: 'now' }))).toBeUndefined();
  });

  test('does not wait for a second resource of the path, which never becomes Ready', () => {
    expect(until(blueprint('lamp', 'True'), blueprint('twin', 'False'))).toBeUndefined();
    expect(until(blueprint('another', 'False'), blueprint('lamp', 'True'))).toBeUndefined();
  });
});
