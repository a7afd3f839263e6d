import {
  HubBanned,
  HubRejected,
  HubUnreachable,
  TokenRejected,
} from '../../../../../operator/client/connection/errors';
import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import type { Hub } from '../../../../../operator/kinds';
import type { Manifest } from '../../../../../operator/runtime/apply';
import { ApiError } from '../../../../../operator/runtime/api-errors';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import type { Pod, StatefulSet } from '../../../../../operator/sync/hub-pod/owned-objects';
import { PodRestarts } from '../../../../../operator/sync/hub-pod/pod-restarts';
import { Rollouts } from '../../../../../operator/sync/hub/workload/rollouts';
import { ManualClock } from '../../../manual-clock';
import { aHub, services } from '../../fixtures';
import { hubClient } from '../../../stand-in-hub/hub-client';

/**
 * A process of the operator, and its cluster: two running hubs, with the pod templates of their StatefulSets.
 */
class Cluster {
  readonly clock = new ManualClock();
  readonly hubs = ['villa', 'cabin'].map((name) =>
    aHub({
      metadata: { name, uid: `hub-${name}`, generation: 1 },
      status: { observedGeneration: 1 },
    }),
  ) as [Hub, Hub];
  readonly pods = new Map<string, Pod>();
  readonly sets = new Map<string, StatefulSet>();
  readonly deleted: string[] = [];
  readonly requeued: string[] = [];
  readonly contacted: string[] = [];
  /** The API server's answer to a deletion. */
  failure: ApiError | undefined;
  /** The hubs' answer to /api/core/state. */
  answer: unknown = { state: 'RUNNING' };
  /** The hubs' answer to backup/info. */
  backup: unknown = { state: 'idle' };
  hasToken = true;
  readonly restarts: PodRestarts;
  readonly rollouts: Rollouts;

  constructor() {
    const given = services({
      clock: this.clock,
      requeue: (kind, _namespace, name) => void this.requeued.push(`${kind} ${name}`),
      applier: {
        matchesLastApplied: (present: ClusterObject, desired: Manifest) =>
          JSON.stringify(present['spec' as never]) === JSON.stringify(desired['spec']),
      },
      cache: {
        get: (kind: string, _namespace: string, name: string) => {
          if (kind === 'Pod') return this.pods.get(name) as never;
          if (kind === 'StatefulSet') return this.sets.get(name) as never;
          return this.hubs.find(({ metadata }) => metadata.name === name) as never;
        },
        list: () => this.hubs.values() as never,
        ofHub: function* (_kind: string, _namespace: string, name: string) {
          yield { kind: 'HubConfiguration', metadata: { name } } as never;
        },
      },
      cluster: {
        request: ({ path }) => {
          if (this.failure) return Promise.reject(this.failure);
          this.deleted.push(path.slice(path.lastIndexOf('/') + 1));
          return Promise.resolve(undefined as never);
        },
      },
    });
    const answered = (answer: unknown) =>
      answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    const client = {
      rest: { get: () => answered(this.answer) },
      connection: { command: () => answered(this.backup) },
    };
    const contact = ({ metadata }: Hub) => {
      this.contacted.push(metadata.name);
      return Promise.resolve(this.hasToken ? { client: hubClient(client) } : { missing: 'no token' });
    };
    this.restarts = new PodRestarts(given, { contact });
    this.rollouts = new Rollouts(given, this.restarts, () => false);
    for (const { metadata } of this.hubs) {
      this.runs(metadata.name);
      this.sets.set(metadata.name, template('old') as unknown as StatefulSet);
    }
  }

  /** Replaces the pod of a hub with a ready one. */
  runs(hub: string, uid = `${hub}-first`, revision = 'old'): void {
    this.pods.set(`${hub}-0`, {
      metadata: {
        name: `${hub}-0`,
        uid,
        creationTimestamp: this.now(),
        labels: { 'controller-revision-hash': revision },
      },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ name: 'hub', started: true, state: { running: { startedAt: this.now() } } }],
      },
    });
  }

  /** Makes the pod of a hub not ready from now on. */
  isNotReady(hub: string, container: { readonly started?: boolean } = {}): void {
    const pod = this.pods.get(`${hub}-0`)!;
    const [present] = pod.status!.containerStatuses!;
    this.pods.set(`${hub}-0`, {
      ...pod,
      status: {
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: this.now() }],
        containerStatuses: [{ ...present!, ...container }],
      },
    });
  }

  private now(): string {
    return new Date(this.clock.now()).toISOString();
  }

  /** Applies the new template. The StatefulSet controller is about to replace the pod. */
  rolls(hub: string): void {
    const [metadata, status] = [
      { name: 'set', generation: 2 },
      { observedGeneration: 2, updateRevision: 'new' },
    ];
    this.sets.set(hub, { ...template('old'), metadata, status } as never);
  }

  delay(hub: Hub, desired = template('new')) {
    return this.rollouts.delay(hub, this.sets.get(hub.metadata.name), desired);
  }

  /** Returns the delay when the change is 3 s old. */
  async stable(hub: Hub, desired = template('new')) {
    await this.delay(hub, desired);
    await this.clock.advance(3_000);
    return this.delay(hub, desired);
  }

  restart(hub = this.hubs[0]) {
    return this.restarts.restart(hub, 'a test');
  }
}

const template = (image: string, configuration = 'sha256:1'): Manifest => ({
  metadata: { name: 'set' },
  spec: {
    template: {
      metadata: { annotations: { [operatorAnnotations.configHash]: configuration } },
      spec: { image },
    },
  },
});

describe('Rollouts', () => {
  test('apply a changed template when it is stable', async () => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    expect(await cluster.delay(villa)).toEqual({ delay: 3_000 });
    expect(await cluster.stable(villa)).toEqual({ delay: 0 });
  });

  test.each([
    ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['does not exist', undefined],
  ])('apply it immediately when the pod %s: one restart is enough', async (_, gone) => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    const pod = cluster.pods.get('villa-0')!;
    if (gone) cluster.pods.set('villa-0', { ...pod, metadata: { ...pod.metadata, ...gone } });
    else cluster.pods.delete('villa-0');
    expect(await cluster.delay(villa)).toEqual({ delay: 0 });
  });

  test.each([
    ['starts', { state: 'STARTING' }],
    ['answers before it starts', { state: 'NOT_RUNNING', recorder_state: { migration_in_progress: false } }],
  ])('do not interrupt a hub that %s, for at most ten minutes', async (_, answer) => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    cluster.answer = answer;
    expect(await cluster.stable(villa)).toMatchObject({
      delay: 5_000,
      notice: expect.any(String) as unknown,
    });
    await cluster.clock.advance(9 * 60_000);
    expect(await cluster.delay(villa)).toMatchObject({ delay: 5_000 });
    await cluster.clock.advance(60_000);
    expect(await cluster.delay(villa)).toEqual({ delay: 0 });
  });

  test('do not interrupt a migration of the database, however long it takes', async () => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    cluster.answer = { state: 'NOT_RUNNING', recorder_state: { migration_in_progress: true } };
    await cluster.stable(villa);
    await cluster.clock.advance(5 * 3_600_000);
    expect(await cluster.delay(villa)).toMatchObject({ delay: 5_000 });
    cluster.answer = { state: 'RUNNING', recorder_state: { migration_in_progress: false } };
    expect(await cluster.delay(villa)).toEqual({ delay: 0 });
  });

  test('interrupt a hub that does not answer, since the change may repair it', async () => {
    const cluster = new Cluster();
    cluster.answer = new HubUnreachable('gone');
    expect(await cluster.stable(cluster.hubs[0])).toEqual({ delay: 0 });
  });

  test('do not interrupt a backup, for at most an hour', async () => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    cluster.backup = { state: 'create_backup' };
    const waits = {
      delay: 5_000,
      notice: 'A pending change of its pod waits for the end of a backup, for an hour at most.',
    };
    expect(await cluster.stable(villa)).toEqual(waits);
    for (let minute = 1; minute < 60; minute += 1) {
      await cluster.clock.advance(60_000);
      expect(await cluster.delay(villa)).toEqual(waits);
    }
    await cluster.clock.advance(60_000);
    expect(await cluster.delay(villa)).toEqual({ delay: 0 });
  });

  test.each<[string, (cluster: Cluster) => Promise<void> | void]>([
    [
      'a day later, though the hub was not asked at the end of the one before',
      ({ clock }) => clock.advance(24 * 60 * 60_000),
    ],
    ['after a start of the container', (cluster) => cluster.runs('villa')],
  ])('give a backup its hour %s', async (_, happens) => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    cluster.backup = { state: 'create_backup' };
    await cluster.stable(villa);
    for (let minute = 0; minute < 58; minute += 1) {
      await cluster.clock.advance(60_000);
      await cluster.delay(villa);
    }
    await happens(cluster);
    for (let minute = 0; minute < 60; minute += 1) {
      expect(await cluster.delay(villa)).toMatchObject({ delay: 5_000 });
      await cluster.clock.advance(60_000);
    }
    expect(await cluster.delay(villa)).toEqual({ delay: 0 });
  });

  test('give each backup its hour, and continue when it has ended', async () => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    cluster.backup = { state: 'restore_backup' };
    expect(await cluster.stable(villa)).toMatchObject({ delay: 5_000 });
    await cluster.clock.advance(9 * 60_000);
    cluster.backup = { state: 'idle' };
    expect(await cluster.delay(villa)).toEqual({ delay: 0 });
    cluster.backup = { state: 'create_backup' };
    await cluster.clock.advance(60_000);
    expect(await cluster.delay(villa)).toMatchObject({ delay: 5_000 });
  });

  describe('a hub that can no longer be asked', () => {
    const lose: readonly [string, (cluster: Cluster) => void][] = [
      ['does not answer', (cluster) => void (cluster.answer = new HubUnreachable('no answer within 10 s'))],
      ['rejects the token', (cluster) => void (cluster.backup = new TokenRejected('HTTP 401'))],
      ['has no token', (cluster) => void (cluster.hasToken = false)],
    ];

    test.each(lose)('%s: its backup is not interrupted for ten more minutes', async (_, loses) => {
      const cluster = new Cluster();
      const [villa] = cluster.hubs;
      cluster.backup = { state: 'create_backup' };
      expect(await cluster.stable(villa)).toMatchObject({ delay: 5_000 });
      loses(cluster);
      await cluster.clock.advance(9 * 60_000);
      expect(await cluster.delay(villa)).toMatchObject({
        delay: 5_000,
        notice: expect.stringContaining('backup'),
      });
      await cluster.clock.advance(60_000);
      expect(await cluster.delay(villa)).toEqual({ delay: 0 });
    });

    test.each(lose)(
      '%s: its migration is not interrupted either, unless its container has ended',
      async (_, loses) => {
        const cluster = new Cluster();
        const [villa] = cluster.hubs;
        cluster.answer = { state: 'RUNNING', recorder_state: { migration_in_progress: true } };
        expect(await cluster.stable(villa)).toMatchObject({ delay: 5_000 });
        loses(cluster);
        cluster.answer = cluster.answer instanceof Error ? cluster.answer : { state: 'RUNNING' };
        await cluster.clock.advance(60_000);
        expect(await cluster.delay(villa)).toMatchObject({ delay: 5_000 });
        cluster.runs('villa');
        expect(await cluster.delay(villa)).toEqual({ delay: 0 });
      },
    );

    test('is asked for a backup by its open connection when it has banned the operator', async () => {
      const cluster = new Cluster();
      const [villa] = cluster.hubs;
      cluster.answer = new HubBanned();
      cluster.backup = { state: 'create_backup' };
      expect(await cluster.restarts.occupation(villa)).toBe('backup');
      cluster.backup = new HubBanned();
      expect(await cluster.restarts.occupation(villa)).toBe('backup');
      await cluster.clock.advance(10 * 60_000);
      expect(await cluster.restarts.occupation(villa)).toBeUndefined();
      cluster.answer = { state: 'RUNNING', recorder_state: { migration_in_progress: true } };
      await cluster.restarts.occupation(villa);
      cluster.answer = new HubBanned();
      cluster.backup = { state: 'idle' };
      expect(await cluster.restarts.occupation(villa)).toBe('start');
      await cluster.clock.advance(10 * 60_000);
      expect(await cluster.restarts.occupation(villa)).toBeUndefined();
    });

    test('counts as in the state of its last answer', async () => {
      const cluster = new Cluster();
      const [villa] = cluster.hubs;
      cluster.backup = { state: 'create_backup' };
      await cluster.stable(villa);
      cluster.backup = { state: 'idle' };
      await cluster.delay(villa);
      cluster.hasToken = false;
      expect(await cluster.delay(villa)).toEqual({ delay: 0 });
    });
  });

  test('do not wait for the backup of a hub without backups', async () => {
    const cluster = new Cluster();
    cluster.backup = new HubRejected('unknown_command', 'Unknown command.', 'read');
    expect(await cluster.stable(cluster.hubs[0])).toEqual({ delay: 0 });
  });

  test('do not interrupt a hub that is down in its container, as in a restore, for at most ten minutes', async () => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    cluster.answer = new HubUnreachable('refused', true);
    expect(await cluster.stable(villa)).toMatchObject({ delay: 5_000 });
    cluster.isNotReady('villa');
    await cluster.clock.advance(9 * 60_000);
    expect(await cluster.delay(villa)).toMatchObject({ delay: 5_000 });
    await cluster.clock.advance(60_000);
    expect(await cluster.delay(villa)).toEqual({ delay: 0 });
  });

  test('interrupt the first start in a container that does not listen, since the change may repair it', async () => {
    const cluster = new Cluster();
    // The pods are not new, so the other hub, which answers in the same way, is not waited for.
    await cluster.clock.advance(300_000);
    cluster.isNotReady('villa', { started: false });
    cluster.answer = new HubUnreachable('refused', true);
    expect(await cluster.stable(cluster.hubs[0])).toEqual({ delay: 0 });
  });

  test('restart hubs one after another when the operator is the cause', async () => {
    const cluster = new Cluster();
    const [villa, cabin] = cluster.hubs;
    expect(await cluster.stable(villa)).toEqual({ delay: 0 });
    cluster.rolls('villa');
    cluster.rollouts.recordApplied(villa);
    expect(await cluster.stable(cabin)).toMatchObject({
      delay: 300_000,
      notice: expect.any(String) as unknown,
    });
    const next = async () => {
      cluster.requeued.length = 0;
      await cluster.rollouts.delay(villa, cluster.sets.get('villa'), template('old'));
      return cluster.requeued.includes('Hub cabin');
    };
    expect(await next()).toBe(false);
    cluster.runs('villa', 'villa-second', 'new');
    cluster.answer = { state: 'STARTING' };
    expect(await next()).toBe(false);
    cluster.answer = { state: 'RUNNING' };
    expect(await next()).toBe(true);
    expect(await cluster.delay(cabin)).toEqual({ delay: 0 });
  });

  test.each<[string, (cluster: Cluster) => void]>([
    ['is about to be replaced', (cluster) => cluster.rolls('villa')],
    ['starts', (cluster) => cluster.isNotReady('villa', { started: false })],
  ])(
    'wait for a hub whose pod %s because of a process before this one, for five minutes',
    async (_, happens) => {
      const cluster = new Cluster();
      const [, cabin] = cluster.hubs;
      happens(cluster);
      expect(await cluster.stable(cabin)).toMatchObject({ delay: 300_000 });
      await cluster.clock.advance(300_000);
      cluster.runs('villa', 'villa-second');
      cluster.sets.set('villa', template('old') as unknown as StatefulSet);
      expect(await cluster.delay(cabin)).toEqual({ delay: 0 });
    },
  );

  test('do not wait for a hub that has been down for long', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(300_000);
    cluster.isNotReady('villa');
    expect(await cluster.stable(cluster.hubs[1])).toEqual({ delay: 0 });
  });

  test('do not wait for a hub whose pod has the template already', async () => {
    const cluster = new Cluster();
    const [villa, cabin] = cluster.hubs;
    await cluster.stable(villa);
    expect(await cluster.stable(cabin)).toMatchObject({ delay: 300_000 });
    cluster.rollouts.recordApplied(villa);
    expect(await cluster.delay(cabin)).toEqual({ delay: 0 });
  });

  test('do not wait for the answer of the hub that has the turn, unless they want it', async () => {
    const cluster = new Cluster();
    const [villa, cabin] = cluster.hubs;
    await cluster.stable(villa);
    cluster.rollouts.recordApplied(villa);
    const contacted = async (desired: Manifest) => {
      cluster.contacted.length = 0;
      await cluster.stable(cabin, desired);
      return cluster.contacted;
    };
    expect(await contacted(template('old'))).toEqual([]);
    expect(await contacted(template('old', 'sha256:2'))).toEqual(['cabin']);
    expect(await contacted(template('new'))).toContain('villa');
  });

  test('do not wait for longer than five minutes for a hub that does not come back', async () => {
    const cluster = new Cluster();
    const [villa, cabin] = cluster.hubs;
    await cluster.stable(villa);
    await cluster.stable(cabin);
    await cluster.clock.advance(300_000);
    expect(await cluster.delay(cabin)).toEqual({ delay: 0 });
  });

  test.each<[string, Partial<Hub['metadata']>, Manifest]>([
    ['the Hub', { generation: 2 }, template('new')],
    ['its configuration', {}, template('new', 'sha256:2')],
  ])('do not wait for another hub when a user has changed %s', async (_, metadata, desired) => {
    const cluster = new Cluster();
    const [villa, cabin] = cluster.hubs;
    await cluster.stable(villa);
    const changed = { ...cabin, metadata: { ...cabin.metadata, ...metadata } };
    await cluster.delay(changed, desired);
    await cluster.clock.advance(3_000);
    // The status has the generation by now.
    expect(
      await cluster.delay({ ...changed, metadata: { ...changed.metadata, generation: 1 } }, desired),
    ).toEqual({
      delay: 0,
    });
  });
});

describe('PodRestarts', () => {
  test('delete the pod of a hub whose template is the desired one', async () => {
    const cluster = new Cluster();
    await cluster.delay(cluster.hubs[0], template('old'));
    expect(await cluster.restart()).toBe('deleted');
    expect(cluster.deleted).toEqual(['villa-0']);
  });

  test.each<[string, Pick<Hub, 'spec'> | { readonly metadata: Partial<Hub['metadata']> }]>([
    ['is suspended', { spec: { suspend: true } }],
    ['is in dry-run', { metadata: { annotations: { 'hub-operator.dev/dry-run': 'true' } } }],
  ])('delete no pod of a Hub that %s', async (_, changed) => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    await cluster.delay(villa, template('old'));
    const metadata = { ...villa.metadata, ...('metadata' in changed && changed.metadata) };
    const held = { ...villa, ...changed, metadata } as Hub;
    // The Hub changes while its hub is asked, which takes 10 s where that hangs.
    const answer = { get: () => (cluster.hubs.splice(0, 1, held), { state: 'RUNNING' }) };
    Object.defineProperty(cluster, 'answer', answer);
    expect(await cluster.restart()).toBe('held');
    cluster.contacted.length = 0;
    expect(await cluster.restart()).toBe('held');
    expect(cluster.contacted).toEqual([]);
    expect(cluster.deleted).toEqual([]);
    cluster.hubs.splice(0, 1, villa);
    expect(await cluster.stable(villa)).toEqual({ delay: 5_000 });
  });

  test('know the reason of a deletion once, and none for a pod that was gone', async () => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    await cluster.delay(villa, template('old'));
    cluster.failure = new ApiError(404, 'NotFound', 'gone');
    await cluster.restart();
    expect(cluster.restarts.takeReason(villa)).toBeUndefined();
    cluster.failure = undefined;
    await cluster.restart();
    expect([1, 2].map(() => cluster.restarts.takeReason(villa))).toEqual(['a test', undefined]);
  });

  test('know nothing before the Hub was reconciled, and requeue its HubConfiguration when it was', async () => {
    const cluster = new Cluster();
    expect(await cluster.restart()).toBe('unknown');
    await cluster.delay(cluster.hubs[0], template('old'));
    await cluster.delay(cluster.hubs[0], template('old'));
    expect(cluster.requeued).toEqual(['HubConfiguration villa']);
    expect(cluster.deleted).toEqual([]);
  });

  test('leave the restart to a changed template, until its pod has come', async () => {
    const cluster = new Cluster();
    const [villa] = cluster.hubs;
    await cluster.stable(villa);
    expect(await cluster.restart()).toBe('rollout');
    cluster.rollouts.recordApplied(villa);
    const set = { metadata: { name: 'villa', generation: 2 }, status: { observedGeneration: 1 } };
    cluster.sets.set('villa', set as never);
    expect(await cluster.restart()).toBe('rollout');
    Object.assign(set.status, { observedGeneration: 2, updateRevision: 'two' });
    const pod = cluster.pods.get('villa-0')!;
    const of = (revision: string) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { 'controller-revision-hash': revision } },
    });
    cluster.pods.set('villa-0', of('one'));
    expect(await cluster.restart()).toBe('rollout');
    cluster.pods.set('villa-0', of('two'));
    expect(await cluster.restart()).toBe('deleted');
    expect(cluster.deleted).toHaveLength(1);
  });

  describe('know that a restart is due', () => {
    const requested = template('old', 'sha256:2');

    test('from the change that a user has made until its pod has come', async () => {
      const cluster = new Cluster();
      const [villa] = cluster.hubs;
      await cluster.delay(villa, template('old'));
      expect(cluster.restarts.isDue(villa)).toBe(false);
      await cluster.delay(villa, requested);
      expect(cluster.restarts.isDue(villa)).toBe(true);
      cluster.rolls('villa');
      cluster.rollouts.recordApplied(villa);
      expect(cluster.restarts.isDue(villa)).toBe(true);
      const pod = cluster.pods.get('villa-0')!;
      const metadata = { ...pod.metadata, deletionTimestamp: 'now', labels: {} };
      cluster.pods.set('villa-0', { ...pod, metadata });
      expect(cluster.restarts.isDue(villa)).toBe(true);
      cluster.pods.delete('villa-0');
      expect(cluster.restarts.isDue(villa)).toBe(false);
      cluster.runs('villa', 'villa-second', 'new');
      expect(cluster.restarts.isDue(villa)).toBe(false);
    });

    test('for five minutes at most', async () => {
      const cluster = new Cluster();
      const [villa] = cluster.hubs;
      await cluster.delay(villa, requested);
      expect(cluster.restarts.isDue(villa)).toBe(true);
      await cluster.clock.advance(299_000);
      expect(cluster.restarts.isDue(villa)).toBe(true);
      await cluster.clock.advance(1_000);
      expect(cluster.restarts.isDue(villa)).toBe(false);
      // The next change has its own time limit.
      await cluster.delay(villa, template('old'));
      expect(cluster.restarts.isDue(villa)).toBe(false);
      await cluster.delay(villa, requested);
      expect(cluster.restarts.isDue(villa)).toBe(true);
    });

    test('not while the change is held, is taken back or waits for the turn of another hub', async () => {
      const cluster = new Cluster();
      const [villa] = cluster.hubs;
      await cluster.delay(villa, requested);
      cluster.rollouts.recordHeld(villa);
      expect(cluster.restarts.isDue(villa)).toBe(false);
      await cluster.delay(villa, requested);
      await cluster.delay(villa, template('old'));
      expect(cluster.restarts.isDue(villa)).toBe(false);
      await cluster.delay(villa, template('new'));
      expect(cluster.restarts.isDue(villa)).toBe(false);
    });
  });

  test('restart a hub whose changed template is held, but none that migrates', async () => {
    const cluster = new Cluster();
    cluster.rollouts.recordHeld(cluster.hubs[0]);
    cluster.answer = { state: 'RUNNING', recorder_state: { migration_in_progress: true } };
    expect(await cluster.restart()).toBe('busy');
    cluster.answer = { state: 'RUNNING' };
    expect(await cluster.restart()).toBe('deleted');
  });
});
