import { MIN_WRITE_INTERVAL } from '../../../../../operator/base/limits';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { settle } from '../../../manual-clock';
import { AUTOMATION, automationBench, Bench } from './bench';

// Whether an object of the hub becomes that of a resource: by its label, by status, or on another volume.

describe('ConfigEntitySync', () => {
  describe('the label of the entity', () => {
    const ours = { alias: 'Made by the operator', triggers: [], actions: [] };

    test('is set beside the user’s labels, and removed when the resource is deleted', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      expect(bench.labels).toEqual(['kitchen', 'managed']);
      await bench.remove({ dryRun: false });
      await settle();
      expect(bench.labels).toEqual(['kitchen']);
      expect(bench.count('remove')).toBe(1);
    });

    test('is taken away when the Hub says markManaged: false', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      bench.markManaged = false;
      await bench.reconcile();
      expect(bench.labels).toEqual(['kitchen']);
    });

    test('lets a resource that was restored without status recognize its object', async () => {
      const bench = automationBench();
      Object.assign(bench, { stored: ours, running: ours, labels: ['managed'] });
      expect((await bench.reconcile()).events).toEqual([]);
      await bench.reconcileUntilReady();
      expect(bench.status).not.toHaveProperty('adopted');
    });

    test.each([
      ['switched off', { state: 'off' }, 'Ready'],
      ['disabled', { disabledBy: 'user' }, 'Stalled'],
    ] as const)('leaves such an object %s, as a person left it', async (_, left, type) => {
      const former = automationBench();
      await former.reconcileUntilReady();
      const { stored, running, labels } = former;
      const bench = automationBench();
      Object.assign(bench, { stored, running, labels, ...left });
      await bench.reconcileUntil(type);
      expect(bench).toMatchObject(left);
      expect(bench.status).not.toHaveProperty('adopted');
    });

    test.each([
      ['a person made', []],
      ['was adopted before', ['managed', 'adopted']],
    ])('leaves an object that %s adopted', async (_, labels) => {
      const bench = automationBench();
      Object.assign(bench, { stored: ours, running: ours, labels });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ adopted: true });
      expect(bench.labels).toEqual(['managed', 'adopted']);
      await bench.remove({ dryRun: false });
      expect([bench.count('remove'), bench.labels]).toEqual([0, []]);
    });
  });

  describe('on another volume of the hub', () => {
    async function moved(spec: object = {}): Promise<Bench> {
      const bench = new Bench(automations, { ...AUTOMATION, driftPolicy: 'Warn', ...spec });
      bench.volume = 'first';
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'first' });
      Object.assign(bench, { volume: 'second', stored: undefined, running: undefined, labels: [] });
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      return bench;
    }

    test('a missing object is created as for a new resource, also with driftPolicy Warn', async () => {
      const bench = await moved();
      bench.setStatus({ adopted: true, formerIds: ['older'] });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'second', automationId: 'dim' });
      expect(bench.status).not.toHaveProperty('adopted');
      expect(bench.drifts).toEqual([]);
      await bench.remove({ dryRun: false });
      await settle();
      expect([bench.count('remove dim'), bench.count('remove older')]).toEqual([1, 0]);
    });

    test('an object that a user has there under the id is adopted', async () => {
      const bench = await moved();
      const made = { alias: 'Made by a person', triggers: [], actions: [] };
      Object.assign(bench, { stored: made, running: made });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'second', adopted: true });
      expect(bench.drifts).toEqual([]);
    });

    test('a copy of the volume has objects with our label, which stay ours', async () => {
      const bench = await moved();
      const copied = { alias: 'Dim', triggers: AUTOMATION.triggers, actions: AUTOMATION.actions };
      Object.assign(bench, { stored: copied, running: copied, labels: ['managed'] });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'second' });
      expect(bench.status).not.toHaveProperty('adopted');
    });

    test('an automation that is on is no drift of enabled: false', async () => {
      const bench = await moved({ enabled: false });
      bench.state = 'on';
      await bench.reconcileUntilReady();
      expect([bench.drifts, bench.state]).toEqual([[], 'off']);
    });

    test('nothing is removed there for a resource that was not reconciled since', async () => {
      const bench = await moved();
      expect(await bench.remove({ dryRun: false })).toMatchObject([
        { reason: 'CleanupSkipped', message: expect.stringMatching(/automation dim was on another volume/) },
      ]);
      expect(bench.count('remove')).toBe(0);
    });

    test.each(['first', undefined])(
      'on the same or an unknown volume (%s) a removal is drift',
      async (volume) => {
        const bench = await moved();
        bench.volume = volume;
        expect(await bench.reconcile()).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
      },
    );
  });

  test('an adopted object that a user removes belongs to the operator after it is created again', async () => {
    const bench = automationBench();
    const made = { alias: 'Made by a person', triggers: [], actions: [] };
    Object.assign(bench, { stored: made, running: made, labels: [] });
    await bench.reconcileUntilReady();
    expect(bench.status).toMatchObject({ adopted: true });
    bench.stored = bench.running = undefined;
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    await bench.reconcileUntilReady();
    expect(bench.status).not.toHaveProperty('adopted');
    expect(bench.labels).toEqual(['managed']);
    await bench.remove({ dryRun: false });
    await settle();
    expect(bench.count('remove dim')).toBe(1);
  });
});
