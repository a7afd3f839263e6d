import { MIN_WRITE_INTERVAL, REJECTED_WRITE_RETRY_INTERVAL } from '../../../../../operator/base/limits';
import { automationBench, type Bench } from './bench';

// The reload that follows a write.

describe('ConfigEntitySync', () => {
  describe('a failed reload', () => {
    async function failed(loads = true): Promise<Bench> {
      const bench = automationBench();
      bench.loads = loads;
      bench.reloadError = 'HTTP 500';
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).toBe('ReloadFailed');
      return bench;
    }

    test.each([
      ['runs', true],
      ['is not loaded', false],
    ])(
      'is not retried in every reconcile while the automation %s, but after some minutes',
      async (_, loads) => {
        const bench = await failed(loads);
        for (let count = 0; count < 20; count++) {
          await bench.clock.advance(10_000);
          expect((await bench.reconcile()).type).toBe('Ready');
        }
        expect(bench.count('reload')).toBe(1);
        bench.reloadError = undefined;
        bench.loads = true;
        await bench.clock.advance(REJECTED_WRITE_RETRY_INTERVAL);
        await bench.reconcileUntilReady();
        expect(bench.count('reload')).toBe(2);
        expect(bench.reloadReady).toBe('ReloadSuccessful');
        await bench.reconcileUntilReady();
        expect(bench.count('reload')).toBe(2);
      },
    );

    test('is retried once the hub is back', async () => {
      const bench = await failed();
      bench.reloadError = undefined;
      bench.signal({ type: 'reconnected' });
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).toBe('ReloadSuccessful');
    });

    test('is retried once the hub has loaded the component', async () => {
      const bench = await failed();
      bench.reloadError = undefined;
      bench.signal({ type: 'component-loaded', component: 'automation' });
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).toBe('ReloadSuccessful');
    });
  });

  test('condition and event of a reload have the ReloadID of the reload that served the write', async () => {
    const bench = automationBench();
    const outcome = await bench.reconcileUntilReady();
    bench.edit({ alias: 'Another' });
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    const second = await bench.reconcileUntilReady();
    for (const [index, { events, conditions }] of [outcome, second].entries()) {
      const message = `Reloaded (ReloadID id-${index + 1}).`;
      // The events are one series, although each has another id: 500 of them must not use up the budget of
      // Warnings.
      const series = 'ReloadSuccessful';
      expect(events).toMatchObject([{ type: 'Normal', reason: 'ReloadSuccessful', message, series }]);
      expect(conditions?.['ReloadReady']).toMatchObject({ message });
    }
  });
});
