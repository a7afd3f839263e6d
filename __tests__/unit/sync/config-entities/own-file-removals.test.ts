import { HubUnreachable } from '../../../../operator/client/connection/errors';
import { OwnFileRemovals } from '../../../../operator/sync/config-entities/own-file-removals';
import { ManualClock } from '../../manual-clock';
import { hubClient } from '../../stand-in-hub/hub-client';

/** A hub that takes this long for each removal. */
function bench(milliseconds: number, failing?: string) {
  const clock = new ManualClock();
  const done: string[] = [];
  const client = hubClient({
    entities: {
      remove: async (_kind: string, id: string, { shouldRemove }: { shouldRemove: () => boolean }) => {
        await clock.advance(milliseconds);
        if (id === failing) throw new HubUnreachable('no answer');
        done.push(shouldRemove() ? id : `${id} stays`);
        return true;
      },
    },
    reloads: {
      request: async () => {
        done.push('reload');
        return { ok: true };
      },
    },
  });
  return { removals: new OwnFileRemovals(client, clock), done };
}

const all = (removals: OwnFileRemovals, ...ids: readonly string[]) =>
  Promise.allSettled(ids.map((id) => removals.remove('automation', id, () => id !== 'kept')));

test('removals within a second cause one reload', async () => {
  const { removals, done } = bench(100);
  await all(removals, 'a', 'kept', 'c');
  expect(done).toEqual(['a', 'kept stays', 'c', 'reload']);
});

test('a slow hub is reloaded for each: no object is absent for longer than one removal and one reload', async () => {
  const { removals, done } = bench(1_000);
  await all(removals, 'a', 'b');
  expect(done).toEqual(['a', 'reload', 'b', 'reload']);
});

test('one that fails ends with its error, and the others continue', async () => {
  const { removals, done } = bench(100, 'b');
  const results = await all(removals, 'a', 'b', 'c');
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(done).toEqual(['a', 'c', 'reload']);
});
