import { FINALIZER_TRY } from '../../../../../operator/base/limits';
import { settle } from '../../../manual-clock';
import { automationBench, type Bench } from './bench';

// The removal of the object of a deleted resource.

describe('ConfigEntitySync', () => {
  describe('a removal that takes the hub long', () => {
    async function removing(): Promise<{ bench: Bench; finish: () => void }> {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      let finish = () => {};
      bench.removal = new Promise((resolve) => (finish = resolve));
      return { bench, finish };
    }

    test('leaves the label until the hub is asked to remove it, so that a removal that is cut leaves that, too', async () => {
      const { bench, finish } = await removing();
      await bench.remove({ dryRun: false });
      await settle();
      expect([bench.count('remove'), bench.labels]).toEqual([1, ['kitchen', 'managed']]);
      finish();
      await settle();
      expect(bench.labels).toEqual(['kitchen']);
    });

    test('is waited for, and then the resource is deleted', async () => {
      const { bench, finish } = await removing();
      for (let count = 0; count < 20; count++) {
        expect(await bench.remove({ dryRun: false })).toMatchObject({ type: 'Waiting' });
        await bench.clock.advance(FINALIZER_TRY);
      }
      expect(bench.count('remove')).toBe(1);
      finish();
      await settle();
      expect(await bench.remove({ dryRun: false })).toEqual([]);
    });
  });
});
