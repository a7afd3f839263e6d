import type { ConfigEntityKind } from '../../../../operator/client/connection/config-entity';
import type { EntityListener } from '../../../../operator/client/registries/entity-registry';
import type { HubEvent, HubEventListener } from '../../../../operator/client/hub-events';
import type { ValidityListener } from '../../../../operator/client/setup/repair-issues';
import type { Priority } from '../../../../operator/runtime/priority';
import { DriftDetector } from '../../../../operator/sync/config-entities/drift';
import type { CachedEntity } from '../../../../operator/sync/config-entities/entity-cache';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import { hubClient } from '../../stand-in-hub/hub-client';

let clock: ManualClock;
let detector: DriftDetector;
let signal: HubEventListener;
let entityChanged: EntityListener;
let validityChanged: ValidityListener;
let writing: boolean;
let reconciled: string[];
let priorities: Set<Priority | undefined>;
let entries: Map<string, CachedEntity>;

const ids = ['a', 'b'];
const invalidated = () =>
  [...entries].filter(([, { observed }]) => observed.source === 'none').map(([name]) => name);

beforeEach(() => {
  clock = new ManualClock();
  writing = false;
  reconciled = [];
  priorities = new Set();
  entries = new Map();
  for (const kind of ['automation', 'scene', 'script']) {
    for (const id of ids) entries.set(`${kind} ${id}`, { observed: { source: 'file', hash: 'x', at: 0 } });
  }
  const client = hubClient({
    events: { onEvent: (listener: HubEventListener) => (signal = listener) },
    entityRegistry: { onChange: (listener: EntityListener) => (entityChanged = listener) },
    repairIssues: { onChange: (listener: ValidityListener) => (validityChanged = listener) },
    entities: { isWriting: () => writing },
  });
  const resources = (kind: ConfigEntityKind) =>
    ids.map((id) => ({
      id,
      entityId: `${kind}.${id}`,
      cached: entries.get(`${kind} ${id}`)!,
      desiredOff: id === 'b',
      requeue: (priority?: Priority) => {
        reconciled.push(`${kind} ${id}`);
        priorities.add(priority);
      },
    }));
  const resourcesOf = (kind: ConfigEntityKind, id: string) =>
    resources(kind).filter((each) => each.id === id);
  detector = new DriftDetector({ client, clock, log: silentLog, resources, resourcesOf });
});

describe('DriftDetector', () => {
  test('a foreign reload of a kind invalidates and reconciles all of its resources a second later', async () => {
    signal({ type: 'external-reload', kind: 'scene' });
    await clock.advance(999);
    expect(reconciled).toEqual([]);
    await clock.advance(1);
    expect(reconciled).toEqual(['scene a', 'scene b']);
    expect(invalidated()).toEqual(['scene a', 'scene b']);
  });

  test('a foreign write of one automation reconciles that one alone', async () => {
    signal({ type: 'external-reload', kind: 'automation', id: 'b' });
    await clock.advance(1_000);
    expect(reconciled).toEqual(['automation b']);
  });

  test('a recheck waits for the end of the reload, at most 5 s, and follows it once more after that', async () => {
    signal({ type: 'external-reload', kind: 'automation' });
    for (let second = 0; second < 4.5; second += 0.5) {
      await clock.advance(500);
      signal({ type: 'reloaded', kind: 'automation' });
    }
    expect(reconciled).toEqual([]);
    await clock.advance(500);
    expect(reconciled).toEqual(['automation a', 'automation b']);
    await clock.advance(3_000);
    signal({ type: 'reloaded', kind: 'automation' }); // on a slow hub the changes are in use only now
    await clock.advance(1_000);
    expect(reconciled).toHaveLength(4);
  });

  test('a foreign reload waits its own second even when a recheck of the operator is overdue', async () => {
    detector.recheckAfterOwnWork('automation');
    await clock.advance(2_000);
    detector.recheckAfterOwnWork('automation');
    await clock.advance(8_000);
    reconciled = [];
    signal({ type: 'external-reload', kind: 'automation' });
    await clock.advance(999);
    expect(reconciled).toEqual([]);
    await clock.advance(1);
    expect(reconciled).toHaveLength(2);
  });

  test('a burst of the operator’s own writes is followed by one recheck a minute, which invalidates nothing', async () => {
    writing = true;
    for (let write = 0; write < 20; write++) {
      detector.recheckAfterOwnWork('scene');
      await clock.advance(700);
    }
    expect(reconciled).toEqual([]);
    writing = false;
    await clock.advance(2_000);
    expect(reconciled).toEqual(['scene a', 'scene b']);
    expect(invalidated()).toEqual([]);
    detector.recheckAfterOwnWork('scene');
    await clock.advance(55_000);
    expect(reconciled).toHaveLength(2);
    await clock.advance(5_000);
    expect(reconciled).toHaveLength(4);
    expect([...priorities]).toEqual(['resync']); // no edit waits for the recheck
  });

  test('a foreign change is rechecked during a burst of own writes', async () => {
    writing = true;
    detector.recheckAfterOwnWork('automation');
    signal({ type: 'external-reload', kind: 'automation', id: 'a' });
    await clock.advance(1_000);
    expect(reconciled).toContain('automation a');
    expect(invalidated()).toEqual(['automation a']);
  });

  test('a removed entity and a loaded script are reconciled at once', () => {
    entityChanged('script', 'a');
    expect(reconciled).toEqual(['script a']);
    expect(invalidated()).toEqual(['script a']);
    signal({ type: 'reloaded', kind: 'script', id: 'b' });
    expect(reconciled).toEqual(['script a', 'script b']);
  });

  test('an automation that the hub disabled as invalid is reconciled at once', () => {
    validityChanged('automation.b');
    expect(reconciled).toEqual(['automation b']);
    expect(invalidated()).toEqual([]);
  });

  test('automations that are desired off are reconciled once when any may have been turned on, and once more when the hub has done it', async () => {
    for (let call = 0; call < 20; call++) {
      signal({ type: 'automations-turned-on' });
      await clock.advance(10);
    }
    await clock.advance(100);
    expect(reconciled).toEqual(['automation b']);
    await clock.advance(4_880);
    expect(reconciled).toEqual(['automation b']);
    await clock.advance(10);
    expect(reconciled).toEqual(['automation b', 'automation b']);
    await clock.advance(60_000);
    expect(reconciled).toHaveLength(2);
  });

  const reject = (name: string) => {
    const cached = entries.get(name)!;
    cached.rejection = { hash: 'x', error: new Error() as never, at: 0 };
    return cached;
  };

  test.each<[HubEvent]>([[{ type: 'device-added' }], [{ type: 'component-loaded', component: 'mqtt' }]])(
    'the signal %j lets rejected payloads be sent again, once for many signals',
    async (news) => {
      const cached = reject('scene a');
      for (let count = 0; count < 50; count++) {
        signal(news);
        await clock.advance(40);
      }
      expect(reconciled).toEqual([]);
      await clock.advance(3_000);
      expect(reconciled).toEqual(['scene a']);
      expect(cached.rejection).toBeUndefined();
      await clock.advance(10_000);
      expect(reconciled).toHaveLength(1);
      reject('scene a');
      signal(news);
      await clock.advance(5_000);
      expect(reconciled).toHaveLength(2);
    },
  );

  test('resources are reconciled at once when their component is loaded, and failed reloads may be retried', () => {
    reject('scene a');
    const cached = entries.get('script a')!;
    cached.reloadFailedAt = 1;
    signal({ type: 'component-loaded', component: 'script' });
    expect(reconciled).toEqual(['script a', 'script b']);
    expect(cached.reloadFailedAt).toBeUndefined();
  });

  test('a connection that is back reconciles all resources and lets rejected payloads be sent again', () => {
    const cached = reject('scene a');
    signal({ type: 'reconnected' });
    expect(reconciled).toEqual(
      ['automation', 'scene', 'script'].flatMap((kind) => ids.map((id) => `${kind} ${id}`)),
    );
    expect(cached.rejection).toBeUndefined();
  });

  test('changes that were missed reconcile all resources, and no rejected payload is sent again', () => {
    const cached = reject('scene a');
    signal({ type: 'changes-missed' });
    expect(reconciled).toHaveLength(3 * ids.length);
    expect(cached.rejection).toBeDefined();
  });
});
