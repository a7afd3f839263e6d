import { HubFailed, HubRejected } from '../../../../../operator/client/connection/errors';
import { MIN_WRITE_INTERVAL } from '../../../../../operator/base/limits';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { automationBench, Bench, COMMON } from './bench';

// A write that the hub fails at or rejects, or that a restart of the hub interrupts.

describe('ConfigEntitySync', () => {
  describe('a restart of the hub during a write', () => {
    test.each([new HubRejected('404', 'Not Found'), new HubFailed('HTTP 500')])(
      'causes a wait: the write is sent again (%s)',
      async (error) => {
        const bench = automationBench();
        bench.writeError = error;
        await bench.reconcile(); // the first reconcile records the id
        await bench.reconcile();
        expect(bench.count('write')).toBe(1);
        bench.writeError = undefined;
        bench.presence.restart();
        for (let count = 0; count < 5; count++) {
          expect(['Waiting', 'Ready']).toContain((await bench.reconcile()).type);
          await bench.clock.advance(MIN_WRITE_INTERVAL);
        }
        expect(bench.count('write')).toBe(2);
      },
    );

    test('does not count as a failed reload: the hub loads its files when it starts', async () => {
      const bench = automationBench();
      bench.reloadError = 'HTTP 404';
      while (bench.count('reload') === 0) await bench.reconcile();
      bench.reloadError = undefined;
      bench.presence.restart();
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).not.toBe('ReloadFailed');
    });
  });

  test('a write at which the hub fails is retried less and less often, with the error in the message, until the hub is back', async () => {
    const bench = automationBench();
    bench.writeError = new HubFailed('boom');
    await bench.reconcile(); // the first reconcile records the id
    const sentAt: number[] = [];
    const began = bench.clock.monotonic();
    const reconcilesFor = async (milliseconds: number, interval = 250) => {
      for (
        const end = bench.clock.monotonic() + milliseconds;
        bench.clock.monotonic() < end;
        await bench.clock.advance(interval)
      ) {
        const before = bench.count('write');
        await bench.reconcile().catch((error: unknown) => expect(error).toBe(bench.writeError));
        if (bench.count('write') > before) sentAt.push(bench.clock.monotonic() - began);
      }
    };
    await reconcilesFor(5_000);
    bench.clock.set(-3_600_000); // the wall clock is set back
    await reconcilesFor(60_000);
    expect(sentAt).toEqual([0, 4_000, 12_000, 28_000, 60_000]);
    expect((await bench.reconcile()).message).toContain('boom');
    await reconcilesFor(60 * 60_000, 2_000);
    expect(sentAt.length).toBeLessThan(20);
    bench.signal({ type: 'reconnected' });
    await reconcilesFor(1_000);
    bench.writeError = undefined;
    await reconcilesFor(MIN_WRITE_INTERVAL + 2_000);
    expect(bench.stored).toBeDefined();
    expect((await bench.reconcile()).message).not.toContain('boom');
  });

  test('a payload that the hub rejected under one id is sent under another one', async () => {
    const bench = automationBench();
    await bench.reconcileUntilReady();
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    bench.writeError = new HubRejected('400', 'this id is taken');
    bench.edit({ id: 'taken' });
    bench.stored = bench.running = undefined;
    await bench.reconcileUntil('Stalled');
    bench.writeError = undefined;
    bench.edit({ id: 'free' });
    await bench.reconcileUntilReady();
    expect(bench.count('write free')).toBe(1);
  });

  test('an unquoted state that the hub rejects is reported with the remedy', async () => {
    const triggers = [{ trigger: 'state', entity_id: 'light.porch', to: true }];
    const bench = new Bench(automations, { ...COMMON, triggers, actions: [{ delay: 1 }] });
    bench.writeError = new HubRejected('400', "Message malformed: expected str at 'triggers[0].to'");
    await bench.reconcile();
    await bench.reconcile();
    expect(await bench.reconcile()).toMatchObject({
      reason: 'RejectedByHub',
      message: expect.stringMatching(/expected str at 'triggers\[0\]\.to'\. .*quote/is),
    });
  });

  test('records and reports about an object that is being written do not wait for the end of the write', async () => {
    const bench = automationBench();
    const first = await bench.reconcile();
    expect(first).toMatchObject({ status: { automationId: 'dim' }, brief: false });
    expect(await bench.reconcile()).toMatchObject({ type: 'Waiting', brief: true });
    await bench.reconcileUntilReady();
    bench.stored = bench.running = { ...bench.stored, alias: 'Mine' };
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    expect(await bench.reconcile()).toMatchObject({ events: [{ reason: 'DriftDetected' }], brief: false });
  });
});
