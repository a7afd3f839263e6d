import { EntityRemoval } from '../../../../operator/client/config-entities/entity-removal';
import type { RegistryEntity } from '../../../../operator/client/connection/api-types';
import { ManualClock } from '../../manual-clock';

/** A hub whose file and registry can differ, as those of a real hub can. */
class Hub {
  file = new Set<string>();
  registered = new Set<string>();
  readonly asked: string[] = [];
  /** The entity that the next reload restores. */
  broughtBack: string | undefined;

  readonly entities = {
    lastCutAt: -Infinity,
    remove: (_kind: string, id: string) => {
      this.asked.push(`DELETE ${id}`);
      const existed = this.file.delete(id);
      return Promise.resolve(existed);
    },
    removeRegistration: (_kind: string, id: string) => {
      this.asked.push(`unregister ${id}`);
      if (!this.file.has(id)) this.registered.delete(id);
      return Promise.resolve();
    },
  };

  readonly entityRegistry = {
    findToRemove: (_kind: string, id: string) =>
      Promise.resolve(
        this.registered.has(id) ? ({ entity_id: `automation.${id}` } as RegistryEntity) : undefined,
      ),
  };

  readonly reloads = {
    request: () => {
      this.asked.push('reload');
      if (this.broughtBack !== undefined) this.registered.add(this.broughtBack);
      return Promise.resolve({ ok: true, reloadId: '1', startedAt: 0 } as const);
    },
  };

  get leftovers(): string[] {
    return [...this.file, ...this.registered];
  }
}

let hub: Hub;
let clock: ManualClock;
let removal: EntityRemoval;
const options = { shouldRemove: () => true, reload: true };

beforeEach(async () => {
  hub = new Hub();
  clock = new ManualClock();
  removal = new EntityRemoval(hub, clock);
  await clock.advance(60_000); // the writes of the previous process have arrived
});

describe('EntityRemoval', () => {
  test('unregisters an entity whose DELETE was interrupted after the file was written', async () => {
    hub.registered.add('a');
    await removal.remove('automation', 'a', options);
    expect(hub.leftovers).toEqual([]);
  });

  test('unregisters an entity that was restored by a reload which had read the file before the DELETE', async () => {
    hub.file.add('a');
    hub.broughtBack = 'a';
    await removal.remove('automation', 'a', options);
    expect(hub.asked.indexOf('reload')).toBeGreaterThan(hub.asked.indexOf('DELETE a'));
    expect(hub.leftovers).toEqual([]);
  });

  test('removes an entry that an interrupted write put into the file after the DELETE', async () => {
    hub.entities.lastCutAt = clock.monotonic();
    const removed = removal.remove('automation', 'a', options);
    await clock.advance(100);
    hub.file.add('a');
    hub.registered.add('a');
    await clock.advance(10_000);
    await removed;
    expect(hub.leftovers).toEqual([]);
  });

  test('waits in the same way for a write of the previous process', async () => {
    removal = new EntityRemoval(hub, clock);
    const removed = removal.remove('automation', 'a', options);
    await clock.advance(100);
    hub.file.add('a');
    await clock.advance(10_000);
    await removed;
    expect(hub.leftovers).toEqual([]);
  });

  test('does not wait when the file had the object, or when no write was interrupted recently', async () => {
    await removal.remove('automation', 'absent', options);
    hub.entities.lastCutAt = clock.monotonic();
    hub.file.add('a');
    await removal.remove('automation', 'a', options);
    expect(clock.pendingTimers).toBe(0);
  });

  test('removes nothing more when the object belongs to a resource again', async () => {
    hub.file.add('a');
    let shouldRemove = true;
    const removed = removal.remove('automation', 'a', { shouldRemove: () => shouldRemove, reload: true });
    shouldRemove = false;
    hub.file.add('a');
    hub.registered.add('a');
    await removed;
    expect(hub.leftovers).toEqual(['a', 'a']);
  });

  test('does not reload with autoReload: false', async () => {
    hub.file.add('a');
    await removal.remove('scene', 'a', { shouldRemove: () => true, reload: false });
    expect(hub.asked).not.toContain('reload');
  });
});
