import type { ConfigEntityKind } from '../../../../operator/client/config-entities';
import type { EntityListener } from '../../../../operator/client/entity-registry';
import type { HubClient } from '../../../../operator/client/hub-client';
import type { HubEvent, HubEventListener } from '../../../../operator/client/hub-events';
import type { Priority } from '../../../../operator/runtime/queue';
import { DriftDetector } from '../../../../operator/sync/config-entities/drift';
import type { CachedEntity } from '../../../../operator/sync/config-entities/entity-cache';
import { silentLog } from '../../../cluster/silent-log';
import { FakeClock } from '../../fake-clock';

let clock: FakeClock;
let watch: DriftDetector;
let signal: HubEventListener;
let entityChanged: EntityListener;
let writing: boolean;
let worked: string[];
let priorities: Set<Priority | undefined>;
let entries: Map<string, CachedEntity>;

const ids = ['a', 'b'];
const doubted = () => [...entries].filter(([, cached]) => cached.doubted).map(([name]) => name);

beforeEach(() => {
  clock = new FakeClock();
  writing = false;
  worked = [];
  priorities = new Set();
  entries = new Map();
  for (const kind of ['automation', 'scene', 'script']) {
    for (const id of ids) entries.set(`${kind} ${id}`, { doubted: false, since: 0, stored: 'x' });
  }
  const client = {
    events: { onEvent: (listener: HubEventListener) => (signal = listener) },
    entityRegistry: { onChange: (listener: EntityListener) => (entityChanged = listener) },
    entities: { isWriting: () => writing },
  } as unknown as HubClient;
  const resources = (kind: ConfigEntityKind) =>
    ids.map((id) => ({
      id,
      cached: entries.get(`${kind} ${id}`)!,
      desiredOff: id === 'b',
      requeue: (priority?: Priority) => {
        worked.push(`${kind} ${id}`);
        priorities.add(priority);
      },
    }));
  watch = new DriftDetector({ client, clock, log: silentLog, resources });
});

test('looks at all of a kind a second after somebody reloaded it, and believes nothing', async () => {
  signal({ type: 'external-reload', kind: 'scene' });
  await clock.advance(999);
  expect(worked).toEqual([]);
  await clock.advance(1);
  expect(worked).toEqual(['scene a', 'scene b']);
  expect(doubted()).toEqual(['scene a', 'scene b']);
});

test('looks at the one automation that somebody wrote', async () => {
  signal({ type: 'external-reload', kind: 'automation', id: 'b' });
  await clock.advance(1_000);
  expect(worked).toEqual(['automation b']);
});

test('waits for the end of a reload, but not for ever', async () => {
  signal({ type: 'external-reload', kind: 'automation' });
  for (let second = 0; second < 4.5; second += 0.5) {
    await clock.advance(500);
    signal({ type: 'reloaded', kind: 'automation' });
  }
  expect(worked).toEqual([]);
  await clock.advance(500);
  expect(worked).toEqual(['automation a', 'automation b']);
  await clock.advance(3_000);
  signal({ type: 'reloaded', kind: 'automation' }); // a slow hub: only now what changed is in use
  await clock.advance(1_000);
  expect(worked).toHaveLength(4);
});

test('gives a reload its second, however long a sweep of our own has been due', async () => {
  watch.ownWorkEnded('automation');
  await clock.advance(2_000);
  watch.ownWorkEnded('automation');
  await clock.advance(8_000);
  worked = [];
  signal({ type: 'external-reload', kind: 'automation' });
  await clock.advance(999);
  expect(worked).toEqual([]);
  await clock.advance(1);
  expect(worked).toHaveLength(2);
});

test('sweeps once after a burst of our own, without doubting what we know', async () => {
  writing = true;
  for (let write = 0; write < 20; write++) {
    watch.ownWorkEnded('scene');
    await clock.advance(700);
  }
  expect(worked).toEqual([]);
  writing = false;
  await clock.advance(2_000);
  expect(worked).toEqual(['scene a', 'scene b']);
  expect(doubted()).toEqual([]);
  watch.ownWorkEnded('scene');
  await clock.advance(5_000);
  expect(worked).toHaveLength(2);
  await clock.advance(5_000);
  expect(worked).toHaveLength(4);
  expect([...priorities]).toEqual(['resync']); // nobody's edit waits for it
});

test('does not wait for our own burst to look at what somebody else changed', async () => {
  writing = true;
  watch.ownWorkEnded('automation');
  signal({ type: 'external-reload', kind: 'automation', id: 'a' });
  await clock.advance(1_000);
  expect(worked).toContain('automation a');
  expect(doubted()).toEqual(['automation a']);
});

test('looks at once at an entity that was removed, and at a script that was loaded', () => {
  entityChanged('script', 'a');
  expect(worked).toEqual(['script a']);
  expect(doubted()).toEqual(['script a']);
  signal({ type: 'reloaded', kind: 'script', id: 'b' });
  expect(worked).toEqual(['script a', 'script b']);
});

test('looks at the automations that are to be off when one may have been turned on', async () => {
  signal({ type: 'automations-turned-on' });
  signal({ type: 'automations-turned-on' });
  await clock.advance(300);
  expect(worked).toEqual(['automation b']);
});

const refuse = (name: string) => {
  const cached = entries.get(name)!;
  cached.rejection = { hash: 'x', error: new Error() as never, at: 0 };
  return cached;
};

test.each<[HubEvent]>([[{ type: 'device-added' }], [{ type: 'component-loaded', component: 'mqtt' }]])(
  '%j: what was refused is tried again, once for all that the hub tells meanwhile',
  async (news) => {
    const cached = refuse('scene a');
    for (let count = 0; count < 50; count++) {
      signal(news);
      await clock.advance(40);
    }
    expect(worked).toEqual([]);
    await clock.advance(3_000);
    expect(worked).toEqual(['scene a']);
    expect(cached.rejection).toBeUndefined();
    await clock.advance(10_000);
    expect(worked).toHaveLength(1);
    refuse('scene a');
    signal(news);
    await clock.advance(5_000);
    expect(worked).toHaveLength(2);
  },
);

test('works at once what waits for its component, and forgets that reloads failed for want of it', () => {
  refuse('scene a');
  const cached = entries.get('script a')!;
  cached.reloadFailedAt = 1;
  signal({ type: 'component-loaded', component: 'script' });
  expect(worked).toEqual(['script a', 'script b']);
  expect(cached.reloadFailedAt).toBeUndefined();
});

test('tries again at once what was refused before the connection was lost', () => {
  const cached = refuse('scene a');
  signal({ type: 'reconnected' });
  expect(worked).toEqual(
    ['automation', 'scene', 'script'].flatMap((kind) => ids.map((id) => `${kind} ${id}`)),
  );
  expect(cached.rejection).toBeUndefined();
});
