import { MIN_WRITE_INTERVAL } from '../../../../../operator/base/limits';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { AUTOMATION, automationBench, Bench } from './bench';

// An object that was changed, removed, switched or disabled in the hub.

describe('ConfigEntitySync', () => {
  test('an automation that a user disabled is not Ready, and is left alone until it is enabled', async () => {
    const bench = automationBench();
    await bench.reconcileUntilReady();
    bench.disabledBy = 'user';
    const writes = bench.asked.length;
    for (let count = 0; count < 3; count++) {
      expect(await bench.reconcile()).toMatchObject({
        type: 'Stalled',
        reason: 'DriftDetected',
        message: expect.stringContaining('automation.dim is disabled in the hub (by: user)'),
        status: { entityId: 'automation.dim' },
      });
      await bench.clock.advance(60_000);
    }
    expect([bench.asked.length, bench.drifts]).toEqual([writes, ['reported']]);
    bench.disabledBy = null;
    expect(await bench.reconcile()).toMatchObject({ type: 'Ready' });
  });

  describe('driftPolicy Warn', () => {
    const watched = (spec: object = {}) =>
      new Bench(automations, { ...AUTOMATION, driftPolicy: 'Warn', ...spec });
    async function expectStays(bench: Bench, text: RegExp): Promise<void> {
      for (let count = 0; count < 3; count++) {
        const outcome = await bench.reconcile();
        expect(outcome).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
        expect(outcome.message).toMatch(text);
        await bench.clock.advance(60_000);
      }
      expect(bench.drifts).toEqual(['reported']);
      expect([bench.count('write'), bench.count('turn_off')]).toEqual([1, bench.initialTurnOffs]);
    }

    test('a change is reported once and kept, however often it is reconciled', async () => {
      const bench = watched();
      await bench.reconcileUntilReady();
      bench.stored = bench.running = { ...bench.stored, alias: 'Mine' };
      await expectStays(bench, /alias: hub has "Mine", resource says "Dim"/);
    });

    test('a removal is reported once and kept', async () => {
      const bench = watched();
      await bench.reconcileUntilReady();
      bench.stored = bench.running = undefined;
      await expectStays(bench, /was removed from the hub/);
    });

    test('an automation that was switched on is reported once and kept', async () => {
      const bench = watched({ enabled: false });
      await bench.reconcileUntilReady();
      bench.initialTurnOffs = bench.count('turn_off');
      bench.state = 'on';
      await expectStays(bench, /was switched on in the hub/);
      expect(bench.state).toBe('on');
    });
  });

  test('a correction that the hub undoes three times is not repeated, and the difference is reported', async () => {
    const bench = automationBench();
    bench.rewrite = (payload) => ({ ...payload, actions: [{ delay: '00:00:02' }] });
    for (let minute = 0; minute < 30; minute++) {
      await bench.reconcile();
      await bench.clock.advance(60_000);
    }
    const outcome = await bench.reconcile();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
    expect(outcome.message).toContain('actions: hub has [{"delay":2}], resource says [{"delay":1}]');
    expect(bench.count('write')).toBe(4); // the first reconcile corrects nothing
    bench.rewrite = (payload) => payload;
    bench.edit({ alias: 'Another' });
    await bench.reconcileUntilReady();
  });

  test('a correction that lasts is repeated as often as needed', async () => {
    const bench = automationBench();
    await bench.reconcileUntilReady();
    for (let time = 0; time < 10; time++) {
      bench.stored = bench.running = { ...bench.stored, alias: 'Mine' };
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
    }
    expect(bench.stored).toMatchObject({ alias: 'Dim' });
    expect(bench.drifts).toHaveLength(10);
  });
});
