import { MIN_WRITE_INTERVAL } from '../../../../../operator/base/limits';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { AUTOMATION, automationBench, Bench } from './bench';

// The switch of an automation, which follows its definition.

describe('ConfigEntitySync', () => {
  describe('enabled', () => {
    /** Edits the spec while the hub cannot reload, and leaves the automation off. */
    async function editWithFailedReload(bench: Bench, change: object): Promise<void> {
      bench.edit(change);
      bench.loads = false;
      bench.reloadError = 'HTTP 500';
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
      const { reloadReady, state, status } = bench;
      expect([reloadReady, state, status['enabled']]).toEqual(['ReloadFailed', 'off', false]);
    }

    test('a change to true whose reload failed is carried out once the hub has loaded it', async () => {
      const bench = new Bench(automations, { ...AUTOMATION, enabled: false });
      await bench.reconcileUntilReady();
      expect([bench.state, bench.status['enabled']]).toEqual(['off', false]);
      await editWithFailedReload(bench, { enabled: true });
      bench.running = bench.stored; // the hub has restarted, and restored the state
      bench.signal({ type: 'reconnected' });
      bench.reloadError = undefined;
      await bench.reconcileUntilReady();
      expect([bench.state, bench.status['enabled']]).toEqual(['on', true]);
    });

    test('false is enforced without a loop where something in the hub switches it on each time', async () => {
      const bench = new Bench(automations, { ...AUTOMATION, enabled: false });
      await bench.reconcileUntilReady();
      const before = bench.count('turn_off');
      const ownAt: number[] = [];
      const began = bench.clock.monotonic();
      while (bench.clock.monotonic() - began < 3_600_000) {
        if (bench.state === 'off') {
          ownAt.push(bench.clock.monotonic() - began);
          bench.state = 'on';
        }
        const outcome = await bench.reconcile();
        if (outcome.type === 'Stalled')
          expect(outcome).toMatchObject({
            reason: 'DriftDetected',
            message: expect.stringContaining('again and again') as string,
          });
        await bench.clock.advance(outcome.type === 'Stalled' ? outcome.after! : 300);
      }
      expect(ownAt.slice(0, 4).map((at) => Math.round(at / 1_000))).toEqual([0, 0, 2, 6]);
      expect(bench.count('turn_off') - before).toBeLessThan(25);
      await bench.clock.advance(3_600_000);
      bench.state = 'on';
      await bench.reconcile();
      expect(bench.state).toBe('off'); // immediately, since the correction had lasted for an hour
    });

    test('a change to false is carried out although the reload failed', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      await editWithFailedReload(bench, { enabled: false });
      expect(bench.state).toBe('off');
    });
  });
});
