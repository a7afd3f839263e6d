import { RESYNC } from '../../../../../operator/base/limits';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { scripts } from '../../../../../operator/sync/config-entities/script';
import { AUTOMATION, automationBench, Bench, SCRIPT } from './bench';

// A stored object that the hub does not load, or disables as invalid.

describe('ConfigEntitySync', () => {
  test('a script that the hub does not load is read less and less often, until the hub reports it', async () => {
    const bench = new Bench(scripts, SCRIPT);
    bench.loads = false;
    await bench.reconcile();
    const began = bench.clock.monotonic();
    let longest = 0;
    while (bench.clock.monotonic() - began < 60 * 60_000) {
      const outcome = await bench.reconcile();
      if (outcome.type === 'Ready') throw new Error('is Ready');
      longest = outcome.after!;
      await bench.clock.advance(longest);
    }
    expect(longest).toBe(RESYNC / 2);
    expect(bench.count('read')).toBeLessThan(20);
    bench.running = bench.stored;
    const before = bench.requeued;
    bench.signal({ type: 'reloaded', kind: 'script', id: 'dim' });
    expect(bench.requeued).toBe(before + 1);
    expect((await bench.reconcileUntilReady()).type).toBe('Ready');
  });

  test('a script that the hub does not load is NotLoaded, and names the include', async () => {
    const bench = new Bench(scripts, SCRIPT);
    bench.loads = false;
    await bench.reconcile();
    await bench.reconcile();
    await bench.clock.advance(10_000);
    const outcome = await bench.reconcile();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'NotLoaded' });
    expect(outcome.message).toContain('script: !include scripts.yaml');
  });

  test('an automation that the hub does not load by a good reload is NotLoaded until it does', async () => {
    const bench = automationBench();
    bench.loads = false;
    const outcome = await bench.reconcileUntil('Stalled');
    expect(outcome).toMatchObject({ reason: 'NotLoaded', status: { appliedHash: expect.any(String) } });
    expect(outcome.message).toContain('automation hub_operator: !include automations.yaml');
    expect(bench.reloadReady).toBe('ReloadSuccessful');
    await bench.clock.advance(60_000);
    expect(await bench.reconcile()).toMatchObject({ type: 'Stalled', reason: 'NotLoaded' });
    expect(bench.count('reload')).toBe(1);
    bench.running = bench.stored; // the include exists now, and the hub was restarted
    bench.signal({ type: 'reconnected' });
    expect((await bench.reconcileUntilReady()).reason).toBe('AutomationGenerated');
  });

  test.each([
    ['an automation', automations, AUTOMATION],
    ['a script', scripts, SCRIPT],
  ])(
    '%s that the hub disabled as invalid is RejectedByHub with the reason of the hub',
    async (_, type, spec) => {
      const bench = new Bench(type, spec);
      await bench.reconcileUntilReady();
      bench.validationError = `Unknown device 'abc' in ${'x'.repeat(2_000)}`;
      const outcome = await bench.reconcile();
      expect(outcome).toMatchObject({ type: 'Stalled', reason: 'RejectedByHub' });
      expect(outcome.message).toContain("Unknown device 'abc'");
      expect(outcome.message.length).toBeLessThan(700);
      expect([bench.count('write'), bench.count('read')]).toEqual([1, 0]);
      bench.validationError = undefined;
      expect((await bench.reconcile()).type).toBe('Ready');
    },
  );
});
