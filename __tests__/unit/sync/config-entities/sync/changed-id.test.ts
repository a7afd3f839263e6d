import { HubFailed, HubRejected } from '../../../../../operator/client/connection/errors';
import { MIN_WRITE_INTERVAL, RESYNC } from '../../../../../operator/base/limits';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { settle } from '../../../manual-clock';
import { AUTOMATION, Bench } from './bench';

// A resource whose effective id changes.

describe('ConfigEntitySync', () => {
  describe('a changed id', () => {
    async function renamed(spec: object = {}, status: object = {}): Promise<Bench> {
      const bench = new Bench(automations, { ...AUTOMATION, id: 'old', ...spec });
      await bench.reconcileUntilReady();
      bench.setStatus(status);
      bench.edit({ id: 'new' });
      bench.stored = bench.running = undefined; // no object has the new id yet
      bench.entityId = 'automation.dim_2';
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      return bench;
    }

    test('writes the new object, then removes the old one and keeps the entity id', async () => {
      const bench = await renamed();
      await bench.reconcileUntilReady();
      const sent = bench.asked.filter((each) => / /.test(each));
      expect(sent).toEqual([
        'write old',
        'write new',
        'remove old',
        'rename automation.dim_2 to automation.dim',
      ]);
      expect(bench.status).toMatchObject({ automationId: 'new', entityId: 'automation.dim' });
      expect(bench.status).not.toHaveProperty('formerIds');
    });

    test('removes all former objects, also where the hub rejected one in between', async () => {
      const bench = await renamed();
      bench.writeError = new HubRejected('400', 'Message malformed');
      await bench.reconcileUntil('Stalled');
      bench.writeError = undefined;
      bench.edit({ id: 'third' });
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
      expect([bench.count('remove old'), bench.count('remove third')]).toEqual([1, 0]);
      expect(bench.status).not.toHaveProperty('formerIds');
    });

    test('keeps the old object while the new one is registered and not in use', async () => {
      const bench = await renamed();
      bench.loads = false;
      bench.running = { alias: 'Restored by the hub', triggers: [], actions: [] };
      bench.setStatus({ automationId: 'new', formerIds: ['old'], appliedHash: undefined });
      await bench.reconcileUntil('Stalled');
      expect(bench.count('remove')).toBe(0);
      bench.loads = true;
      await bench.clock.advance(RESYNC);
      bench.running = bench.stored;
      await bench.reconcileUntilReady();
      expect(bench.count('remove old')).toBe(1);
    });

    test('keeps its own entity id where the former one is taken', async () => {
      const bench = await renamed();
      bench.takenEntityId = 'automation.dim';
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ automationId: 'new', entityId: 'automation.dim_2' });
    });

    test('keeps the old object while the hub rejects the new one', async () => {
      const bench = await renamed();
      bench.writeError = new HubRejected('400', 'Message malformed');
      await bench.reconcile();
      await bench.reconcile();
      expect((await bench.reconcile()).message).toContain('Message malformed');
      expect(bench.count('remove')).toBe(0);
      expect(bench.status['formerIds']).toEqual(['old']);
      await bench.remove({ dryRun: false });
      await settle();
      await settle();
      expect(bench.asked).toEqual(expect.arrayContaining(['remove new', 'remove old']));
    });

    test('back to the former id waits for the end of its removal, and a third id then leaves neither object', async () => {
      const bench = await renamed();
      let finish = () => {};
      bench.removal = new Promise((resolve) => (finish = resolve));
      for (let count = 0; count < 8; count++) {
        await bench.reconcile();
        await bench.clock.advance(500);
      }
      expect(bench.count('remove old')).toBe(1);
      bench.edit({ id: 'old' });
      const writes = bench.count('write');
      for (let count = 0; count < 3; count++) {
        expect(await bench.reconcile()).toMatchObject({ type: 'Waiting' });
        await bench.clock.advance(MIN_WRITE_INTERVAL);
      }
      expect([bench.status['automationId'], bench.count('write')]).toEqual(['new', writes]);
      bench.stored = bench.running = undefined;
      bench.removal = Promise.resolve();
      finish();
      await settle();
      const { status } = await bench.reconcile();
      expect(status).toMatchObject({ automationId: 'old', adopted: null, formerIds: ['new'] });
      await bench.reconcileUntilReady();
      bench.edit({ id: 'third' });
      bench.stored = bench.running = undefined;
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
      expect(bench.status).not.toHaveProperty('formerIds');
      expect([bench.count('remove old'), bench.count('remove new')]).toEqual([2, 1]);
      expect(bench.drifts).toEqual([]);
    });

    test('back to a former id whose removal failed does not adopt the remaining object', async () => {
      const bench = await renamed();
      bench.removal = Promise.reject(new HubFailed('no'));
      bench.removal.catch(() => undefined);
      await expect(bench.reconcileUntilReady()).rejects.toThrow('no');
      bench.edit({ id: 'old' });
      const { status, events } = await bench.reconcile();
      expect(status).toMatchObject({ automationId: 'old', adopted: null });
      expect(events).toEqual([]);
    });

    test('leaves an adopted object in the hub, with a warning', async () => {
      const bench = await renamed({}, { adopted: true });
      const { events } = await bench.reconcile();
      expect(events).toEqual([
        {
          type: 'Warning',
          reason: 'CleanupSkipped',
          message: expect.stringMatching(/old stays in the hub beside new, since it was adopted/) as string,
        },
      ]);
      await bench.reconcileUntilReady();
      expect(bench.count('remove')).toBe(0);
    });
  });
});
