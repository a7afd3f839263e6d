import { blueprint as definition, type HubBlueprint } from '../../../../operator/kinds';
import { untilBlueprintReady } from '../../../../operator/sync/config-entities/blueprint';
import type { Child } from '../../../../operator/sync/objects/child';
import { services } from '../fixtures';

const PATH = 'tests/lamp.yaml';

/** A HubBlueprint whose condition Ready has this status. */
const blueprint = (name: string, status: 'True' | 'False', fields: object = {}, spec: object = {}) => ({
  kind: 'HubBlueprint',
  metadata: { name, namespace: 'home', generation: 2, ...fields },
  spec: { hubRef: { name: 'villa' }, domain: 'automation', path: PATH, ...spec },
  status: { conditions: [{ type: 'Ready', status, observedGeneration: 2 }] },
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

  test('waits for the outcome of a changed spec, unless it is suspended', () => {
    const changed = { generation: 3 };
    expect(until(blueprint('lamp', 'True', changed))).toMatchObject({ reason: 'BlueprintNotReady' });
    expect(until(blueprint('lamp', 'True', changed, { suspend: false }))).toMatchObject({
      reason: 'BlueprintNotReady',
    });
    expect(until(blueprint('lamp', 'True', changed, { suspend: true }))).toBeUndefined();
    expect(until(blueprint('lamp', 'False', changed, { suspend: true }))).toBeDefined();
  });

  test('does not wait for a second resource of the path, which never becomes Ready', () => {
    expect(until(blueprint('lamp', 'True'), blueprint('twin', 'False'))).toBeUndefined();
    expect(until(blueprint('another', 'False'), blueprint('lamp', 'True'))).toBeUndefined();
  });

  test('a HubBlueprint wakes its users when its present spec is Ready, as the former one was', () => {
    const ofGeneration = (observedGeneration: number) =>
      definition.dependentStatus!({
        status: { conditions: [{ type: 'Ready', status: 'True', observedGeneration }] },
      } as unknown as HubBlueprint);
    expect(ofGeneration(2)).toEqual(ofGeneration(2));
    expect(ofGeneration(2)).not.toEqual(ofGeneration(3));
  });
});
