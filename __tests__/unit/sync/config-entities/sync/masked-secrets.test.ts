import { MIN_WRITE_INTERVAL } from '../../../../../operator/base/limits';
import type { Outcome } from '../../../../../operator/runtime/outcome';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { AUTOMATION, automationBench, Bench } from './bench';

// Values of secrets in the messages of all steps.

describe('ConfigEntitySync', () => {
  test('a secret of the hub is masked in every outcome: drift, dry run, invalid and rejected definitions', async () => {
    const secret = 'hunter2-and-more';
    const told: string[] = [];
    const tell = (outcome: Outcome) => told.push(JSON.stringify(outcome));
    const bench = automationBench();
    bench.secrets = [secret];
    await bench.reconcileUntilReady();
    const own = bench.stored;
    bench.stored = bench.running = { ...own, actions: [{ password: secret, padding: 'x'.repeat(40) }] };
    tell(await bench.reconcile({ dryRun: true }));
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    tell(await bench.reconcile());
    bench.stored = bench.running = own;
    bench.validationError = `${'x'.repeat(490)}${secret}`;
    tell(await bench.reconcile());
    tell(await bench.reconcile());
    const watched = new Bench(automations, { ...AUTOMATION, driftPolicy: 'Warn' });
    watched.secrets = [secret];
    await watched.reconcileUntilReady();
    watched.stored = watched.running = { ...watched.stored, description: `${'x'.repeat(50)}${secret}` };
    tell(await watched.reconcile());
    expect(told.join()).toMatch(/DryRun.*was changed in the hub.*RejectedByHub.*driftPolicy is Warn/s);
    for (let length = 4; length <= secret.length; length++)
      expect(told.join()).not.toContain(secret.slice(0, length));
  });
});
