import { DEPENDENCY_REQUEUE } from '../../../../../operator/base/limits';
import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { scenes } from '../../../../../operator/sync/config-entities/scene';
import { automationBench, Bench } from './bench';

// Decisions before the hub is asked for the object.

describe('ConfigEntitySync', () => {
  test('an id that the configuration of the hub has itself is NameConflict, and nothing is written, until it is gone', async () => {
    const bench = automationBench();
    const accepted = (definitions: object) =>
      ({
        metadata: { annotations: { [operatorAnnotations.definitions]: JSON.stringify(definitions) } },
      }) as unknown as ClusterObject;
    bench.accepted = accepted({ automation: ['dim'] });
    for (let count = 0; count < 3; count++)
      expect(await bench.reconcile()).toMatchObject({
        type: 'Stalled',
        reason: 'NameConflict',
        message: expect.stringContaining('has the automation dim itself'),
        after: DEPENDENCY_REQUEUE,
      });
    expect(bench.asked).toEqual([]);
    bench.accepted = accepted({ script: ['dim'], automation: ['other'] });
    await bench.reconcileUntilReady();
    expect(bench.count('write')).toBe(1);
  });

  test('a scene whose attributes contain a state is InvalidSpec, and nothing is sent', async () => {
    const entities = [{ entity_id: 'light.sofa', state: 'on', attributes: { state: 'off' } }];
    const spec = { hubRef: { name: 'villa' }, name: 'Film', entities };
    const bench = new Bench(scenes, spec);
    const outcome = await bench.reconcile();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
    expect(outcome.message).toContain('light.sofa');
    expect(bench.asked).toEqual([]);
  });
});
