import { HubRejected } from '../../../../../operator/client/connection/errors';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { Bench, COMMON } from './bench';

// An automation that uses a blueprint.

describe('ConfigEntitySync', () => {
  describe('a blueprint that is imported later', () => {
    const uses = { ...COMMON, useBlueprint: { path: 'motion.yaml', input: {} } };
    const blueprint = { triggers: [], actions: [] };

    test('is waited for without a write that the hub would refuse', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprintPaths = [];
      await bench.reconcile();
      await bench.reconcile();
      expect(await bench.reconcile()).toMatchObject({
        type: 'Waiting',
        reason: 'BlueprintNotReady',
        after: 60_000,
      });
      expect(bench.count('write')).toBe(0);
      bench.blueprintPaths = ['motion.yaml'];
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(1);
    });

    test('is used although the list of the hub lacks it: the hub does not list files behind a symbolic link', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprintPaths = [];
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(1);
    });

    test('is used although the hub cannot list its blueprints', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprintPaths = undefined;
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(1);
    });

    test('is used although the hub rejected the automation before', async () => {
      const bench = new Bench(automations, uses);
      bench.writeError = new HubRejected('400', 'Missing input x');
      await bench.reconcile();
      await bench.reconcile();
      expect(await bench.reconcile()).toMatchObject({ reason: 'RejectedByHub', after: 60_000 });
      bench.writeError = undefined;
      bench.blueprint = blueprint;
      await bench.clock.advance(60_000);
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(2);
    });

    test('is reloaded for an automation that the hub disabled for want of it', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      const reloads = bench.count('reload');
      bench.blueprint = undefined;
      bench.validationError = 'Unable to find motion.yaml';
      expect(await bench.reconcile()).toMatchObject({ reason: 'RejectedByHub', after: 60_000 });
      bench.blueprint = blueprint;
      await bench.reconcile();
      bench.validationError = undefined;
      await bench.reconcileUntilReady();
      expect(bench.count('reload')).toBe(reloads + 1);
    });
  });
});
