import { until } from '../../../until';
import { AUTOMATION, automationBench } from './bench';

// A dry run, which reports and changes nothing.

describe('ConfigEntitySync', () => {
  describe('a dry run', () => {
    const SECRET = { ...AUTOMATION, alias: 'Dim', actions: [{ data: { password: 'hunter2' } }] };
    const inHub = {
      alias: SECRET.alias,
      triggers: [],
      conditions: [],
      actions: SECRET.actions,
      mode: 'single',
    };

    test('names the fields that it would change in a user’s object, but no values', async () => {
      const bench = automationBench();
      bench.stored = bench.running = inHub;
      const { reason, message } = await bench.reconcile({ dryRun: true });
      expect(reason).toBe('DryRun');
      expect(message).toContain('actions');
      expect(message).not.toContain('hunter2');
    });

    test('shows the values that it would change in an object of the operator', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      Object.assign(bench, { running: { ...bench.running, alias: 'Bright' } });
      bench.stored = bench.running;
      bench.signal({ type: 'reconnected' });
      expect((await bench.reconcile({ dryRun: true })).message).toContain(
        'alias: hub has "Bright", resource says "Dim"',
      );
      expect(bench.count('write')).toBe(1);
    });

    test('leaves the object in the hub when the resource is deleted, with an event', async () => {
      const bench = automationBench({ automationId: 'dim', appliedHash: 'x' });
      const message = expect.stringMatching(/dim stays in the hub.*dry-run/) as string;
      expect(await bench.remove({ dryRun: true })).toEqual([
        { type: 'Warning', reason: 'CleanupSkipped', message },
      ]);
      expect(bench.count('remove')).toBe(0);
      const without = automationBench({ automationId: 'dim', appliedHash: 'x' });
      await without.remove({ dryRun: false });
      await until(() => without.count('remove') === 1);
    });
  });
});
