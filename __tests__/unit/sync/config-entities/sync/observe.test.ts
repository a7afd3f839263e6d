import { MIN_WRITE_INTERVAL } from '../../../../../operator/base/limits';
import { sceneBench } from './bench';

// How often the hub is asked for an object that did not change.

describe('ConfigEntitySync', () => {
  describe('a scene with an icon', () => {
    test('causes no read, write or reload after a restart of the operator', async () => {
      const before = sceneBench();
      await before.reconcileUntilReady();
      const after = sceneBench(before.status);
      after.stored = after.running = before.stored;
      after.showsIcons = false;
      expect((await after.reconcile()).type).toBe('Ready');
      expect(after.asked).toEqual([]);
    });

    test('is not read after a lost connection, as long as the hub did not load it again', async () => {
      const bench = sceneBench();
      await bench.reconcileUntilReady();
      await bench.reconcile();
      bench.signal({ type: 'reconnected' });
      expect((await bench.reconcile()).type).toBe('Ready');
      expect(bench.count('read')).toBe(0);
      bench.loadCount += 1;
      bench.signal({ type: 'reconnected' });
      expect((await bench.reconcile()).type).toBe('Ready');
      expect(bench.count('read')).toBe(1);
    });

    test('that was changed and reloaded in the hub is restored', async () => {
      const bench = sceneBench();
      await bench.reconcileUntilReady();
      bench.stored = bench.running = { ...bench.stored, entities: { 'light.sofa': { state: 'off' } } };
      bench.loadCount += 1;
      await bench.reconcile(); // before the hub reports the reload
      bench.signal({ type: 'external-reload', kind: 'scene' });
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcile();
      expect(bench.stored).toMatchObject({ entities: { 'light.sofa': { state: 'on', brightness: 20 } } });
    });
  });
});
