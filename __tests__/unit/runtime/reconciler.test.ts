import { BUG_MESSAGE, Stopping } from '../../../operator/base/errors';
import { RECONCILE_TIMEOUT } from '../../../operator/base/limits';
import { parseJson } from '../../../operator/runtime/json';
import { NameConflict } from '../../../operator/runtime/apply-errors';
import { EventWriter } from '../../../operator/runtime/event-writer';
import { EventRecorder } from '../../../operator/runtime/events';
import { Finalizer } from '../../../operator/runtime/finalizer';
import type { ObjectKey } from '../../../operator/runtime/object-key';
import { type Outcome, ready, stalled, waiting } from '../../../operator/runtime/outcome';
import { Reconciler } from '../../../operator/runtime/reconciler';
import type { Result } from '../../../operator/runtime/result';
import { HAND_OVER, type ReconcileContext, type SyncModule } from '../../../operator/runtime/sync-module';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { ApiError, ApiServerUnreachable } from '../../../operator/runtime/api-errors';
import { kstatusViolations } from '../../cluster/kstatus';
import { ManualClock, settle } from '../manual-clock';
import { FakeApiClient, notFound } from './fake-api-client';
import { widget, type Widget, widgets } from './objects';
import { RecordingLog } from './recording-log';

const FINALIZER = 'example.org/widget';
const annotations = { reconcileRequestedAt: 'example.org/at', dryRun: 'example.org/dry-run' };

/** One resource, a server that has it, and a module that behaves as the test says. */
class Bench {
  readonly clock = new ManualClock();
  readonly log = new RecordingLog();
  readonly leadership = new AbortController();
  readonly passes: ReconcileContext[] = [];
  readonly happened: string[] = [];
  held = 0;
  announced = 0;
  conflictingOwner: ObjectKey | undefined;
  others: Widget[] = [];
  readError: Error | undefined;
  isBusy = false;
  sync: (context: ReconcileContext) => Promise<Outcome> = () =>
    Promise.resolve(ready('AutomationGenerated', 'In sync.'));
  readonly cluster = new FakeApiClient(this.clock, (request) => this.serve(request));
  private readonly recorder = new EventRecorder(
    new EventWriter(this.cluster, this.clock, 'test'),
    this.clock,
    this.log,
  );
  readonly reconciler: Reconciler<Widget>;

  constructor(
    public present: Widget | undefined,
    remove?: SyncModule<Widget>['remove'],
    lostWithoutRemoval?: string,
  ) {
    const sync = (_: Widget, context: ReconcileContext) => {
      this.passes.push(context);
      return this.sync(context);
    };
    this.reconciler = new Reconciler<Widget>({
      type: widgets,
      cluster: this.cluster,
      clock: this.clock,
      log: this.log,
      events: this.recorder,
      finalizer: new Finalizer(this.cluster, widgets, FINALIZER),
      module: {
        sync,
        hold: () => void this.held++,
        announceDeletion: () => void this.announced++,
        ...(remove && { remove }),
        ...(lostWithoutRemoval !== undefined && { lostWithoutRemoval }),
      },
      read: () => {
        if (this.readError) throw this.readError;
        return this.present;
      },
      conflictingOwner: () => this.conflictingOwner,
      othersWithIdentity: () => this.others,
      duplicateMessage: (_, owner) => `Widget ${owner} has it already.`,
      recordWrite: (resource) => (this.present = resource),
      recordRead: (resource) => (this.present = resource),
      annotations,
      leaderSignal: this.leadership.signal,
      isBusy: () => this.isBusy,
    });
  }

  async reconcile(): Promise<Result> {
    const result = await this.reconciler.reconcile('Widget/home/a');
    await this.recorder.drain();
    if (this.present) expect(kstatusViolations(this.present)).toEqual([]);
    return result;
  }

  get oldestAbandoned(): number {
    return this.reconciler.oldestAbandoned();
  }

  condition(type: string) {
    return this.present?.status?.conditions?.find((condition) => condition.type === type);
  }

  get events(): string[] {
    const bodies = this.cluster.writes.filter(({ path }) => path.endsWith('/events')).map(({ body }) => body);
    return (bodies as { type: string; reason: string }[]).map(({ type, reason }) => `${type} ${reason}`);
  }

  private serve({ path, method, body }: ApiRequest): unknown {
    if (path.includes('/events')) {
      this.happened.push('event');
      return body;
    }
    if (!this.present) throw notFound();
    if (method === 'GET') return this.present;
    const { metadata, status } = body as Widget;
    const resourceVersion = String(Number(this.present.metadata.resourceVersion) + 1);
    this.happened.push(
      path.endsWith('/status') ? 'status' : `finalizers ${metadata.finalizers?.length ?? 0}`,
    );
    return path.endsWith('/status')
      ? { ...this.present, metadata: { ...this.present.metadata, resourceVersion }, status }
      : {
          ...this.present,
          metadata: { ...this.present.metadata, resourceVersion, finalizers: metadata.finalizers ?? [] },
        };
  }
}

const removable = () => Promise.resolve([]);

describe('Reconciler', () => {
  describe('a reconcile', () => {
    test('a reconcile without a change writes nothing', async () => {
      const bench = new Bench(widget(), removable);
      await bench.reconcile();
      const { length } = bench.cluster.writes;
      expect(length).toBeGreaterThan(0);
      for (let again = 0; again < 3; again++) await bench.reconcile();
      expect(bench.passes).toHaveLength(4);
      expect(bench.cluster.writes).toHaveLength(length);
    });

    test('a reconcile of a resource that is gone does nothing', async () => {
      const bench = new Bench(undefined);
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(bench.cluster.requests).toEqual([]);
    });

    test('a resource whose namespace is no longer watched keeps its status, since its Hub is unknown too', async () => {
      const bench = new Bench(widget());
      bench.sync = () => {
        bench.present = undefined;
        return Promise.resolve(waiting('HubNotFound', 'The Hub does not exist.', 30_000));
      };
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(bench.cluster.writes).toEqual([]);
    });

    test('a step that status does not record, as in a cluster with an older definition, is not repeated at once', async () => {
      const bench = new Bench(widget());
      let isRecorded = false;
      bench.sync = () =>
        Promise.resolve(
          waiting('ConfigFlowInProgress', 'Sent soon.', 0, { status: isRecorded ? { step: 'one' } : {} }),
        );
      expect(await bench.reconcile()).toMatchObject({ type: 'requeue', after: 0 });
      expect(await bench.reconcile()).toMatchObject({ type: 'requeue', after: 1_000 });
      isRecorded = true;
      expect(await bench.reconcile()).toMatchObject({ type: 'requeue', after: 0 });
    });

    test('the finalizer is added before the sync module runs', async () => {
      const bench = new Bench(widget(), removable);
      bench.sync = () => {
        bench.happened.push('sync');
        return Promise.resolve(ready('AutomationGenerated', ''));
      };
      await bench.reconcile();
      expect(bench.happened.slice(0, 2)).toEqual(['finalizers 1', 'sync']);
    });

    const refusal = (status: number) => new ApiError(status, 'Refused', 'no finalizer can be added');
    const goingNow = widget({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });

    test.each([
      ['that is deleted', notFound(), undefined],
      ['that is deleted, told as a conflict', refusal(409), undefined],
      ['that is being deleted', refusal(422), goingNow],
      ['that was recreated', refusal(409), widget({ metadata: { uid: 'uid-new' } })],
    ])('a resource of the cache %s gets no finalizer, which is no error', async (_, error, latest) => {
      const bench = new Bench(widget(), removable);
      bench.cluster.handler = ({ method }) => {
        if (method !== 'GET') throw error;
        if (!latest) throw notFound();
        return latest;
      };
      // The resource is reconciled again later, in case the refusal had another cause.
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 30_000, priority: 'resync' });
      expect(bench.passes).toEqual([]);
    });

    test('a finalizer that the API server refuses for another reason is an error', async () => {
      const bench = new Bench(widget(), removable);
      bench.cluster.handler = ({ method }) => {
        if (method === 'GET') return widget();
        throw refusal(422);
      };
      expect(await bench.reconcile()).toMatchObject({ type: 'retry', error: { status: 422 } });
    });

    test('a kind with nothing to remove has no finalizer', async () => {
      const bench = new Bench(widget());
      await bench.reconcile();
      expect(bench.happened).toEqual(['status', 'event']);
    });

    test('the result says when the resource is reconciled next', async () => {
      const bench = new Bench(widget());
      expect(await bench.reconcile()).toEqual({ type: 'resync' });
      bench.sync = () => Promise.resolve(waiting('HubNotReady', 'soon', 10_000));
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 10_000, priority: 'change' });
      bench.sync = () => Promise.resolve(ready('AutomationGenerated', 'ok', { after: 3_000 }));
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 3_000, priority: 'change' });
      bench.sync = () => Promise.resolve(stalled('InvalidSpec', 'no'));
      expect(await bench.reconcile()).toEqual({ type: 'stalled' });
      bench.sync = () => Promise.resolve(stalled('HubBanned', 'no', { after: 30_000 }));
      expect(await bench.reconcile()).toEqual({ type: 'stalled', after: 30_000 });
      expect(bench.condition('Stalled')?.reason).toBe('HubBanned');
      expect(bench.condition('Reconciling')).toBeUndefined();
    });

    test('a condition that will probably soon be over is not written to status', async () => {
      const bench = new Bench(widget(), removable);
      await bench.reconcile();
      const { length } = bench.happened;
      bench.sync = () =>
        Promise.resolve(waiting('FloorNotReady', 'soon', 2_000, { priority: 'resync', unreported: true }));
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 2_000, priority: 'resync' });
      expect(bench.happened).toHaveLength(length);
    });

    test('a new resource reports immediately what it waits for', async () => {
      const bench = new Bench(widget(), removable);
      bench.sync = () => Promise.resolve(waiting('HubUnreachable', 'silent', 2_000, { unreported: true }));
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 2_000, priority: 'change' });
      expect(bench.condition('Ready')).toMatchObject({ status: 'False', reason: 'HubUnreachable' });
    });

    test('while others wait, status waits for the result of an operation, 30 s at most', async () => {
      const bench = new Bench(widget(), removable);
      bench.isBusy = true;
      bench.sync = () =>
        Promise.resolve(waiting('AutomationGenerated', 'Being sent.', 60_000, { brief: true }));
      const statuses = () => bench.happened.filter((what) => what === 'status').length;
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 30_000, priority: 'change' });
      await bench.clock.advance(24_000);
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 6_000, priority: 'change' });
      expect(statuses()).toBe(0);
      await bench.clock.advance(6_000);
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 60_000, priority: 'change' });
      expect(statuses()).toBe(1);
      bench.sync = () => Promise.resolve(ready('AutomationGenerated', 'In use.'));
      await bench.reconcile();
      expect(statuses()).toBe(2);
      bench.sync = () => Promise.resolve(waiting('AutomationGenerated', 'Sent again.', 50, { brief: true }));
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 50, priority: 'change' });
      bench.isBusy = false;
      await bench.reconcile();
      expect(statuses()).toBe(3);
    });

    test('a duplicate stalls, names the older resource and gets no finalizer', async () => {
      const bench = new Bench(widget(), removable);
      bench.conflictingOwner = 'Widget/home/older';
      await bench.reconcile();
      expect(bench.passes).toHaveLength(0);
      expect(bench.happened).not.toContain('finalizers 1');
      expect(bench.condition('Stalled')).toMatchObject({
        reason: 'DuplicateId',
        message: 'Widget older has it already.',
      });
    });

    test('a change by a user that arrived with the answer to a write is reconciled', async () => {
      const bench = new Bench(widget(), removable);
      let generation: number | undefined;
      bench.cluster.handler = ({ body }) => {
        const { metadata } = body as Widget;
        return widget({ metadata: { ...metadata, resourceVersion: '9', generation: 2 } });
      };
      bench.sync = () => {
        generation = bench.present?.metadata.generation;
        return Promise.resolve(ready('AutomationGenerated', ''));
      };
      await bench.reconcile();
      const status = bench.cluster.writes.find(({ path }) => path.endsWith('/status'))!.body as Widget;
      expect(generation).toBe(2);
      expect(status.status?.observedGeneration).toBe(2);
    });
  });

  describe('requests of a user', () => {
    const dryRun = { annotations: { [annotations.dryRun]: 'true' } };

    test('a full reconcile is forced once and its request is recorded in status', async () => {
      const bench = new Bench(
        widget({ metadata: { annotations: { [annotations.reconcileRequestedAt]: 'now' } } }),
      );
      await bench.reconcile();
      await bench.reconcile();
      expect(bench.passes.map(({ forced }) => forced)).toEqual([true, false]);
      expect(bench.present?.status?.lastHandledReconcileAt).toBe('now');
    });

    test('a full reconcile is forced once also while others wait and an operation is running', async () => {
      const bench = new Bench(
        widget({ metadata: { annotations: { [annotations.reconcileRequestedAt]: 'now' } } }),
      );
      bench.isBusy = true;
      bench.sync = () => Promise.resolve(waiting('AutomationGenerated', 'Being sent.', 50, { brief: true }));
      for (let time = 0; time < 2; time++) await bench.reconcile();
      expect(bench.passes.map(({ forced }) => forced)).toEqual([true, false]);
    });

    test('a full reconcile that failed is forced again', async () => {
      const bench = new Bench(
        widget({ metadata: { annotations: { [annotations.reconcileRequestedAt]: 'now' } } }),
      );
      bench.sync = () => Promise.reject(new Error('boom'));
      await bench.reconcile();
      expect(bench.present?.status?.lastHandledReconcileAt).toBeUndefined();
      await bench.reconcile();
      expect(bench.passes.map(({ forced }) => forced)).toEqual([true, true]);
    });

    test('a full reconcile that did not reach the hub is forced again', async () => {
      const bench = new Bench(
        widget({ metadata: { annotations: { [annotations.reconcileRequestedAt]: 'now' } } }),
      );
      const { sync } = bench;
      bench.sync = () =>
        Promise.resolve(waiting('HubUnreachable', 'No answer.', 1_000, { requestPending: true }));
      await bench.reconcile();
      expect(bench.present?.status?.lastHandledReconcileAt).toBeUndefined();
      bench.sync = sync;
      await bench.reconcile();
      expect(bench.passes.map(({ forced }) => forced)).toEqual([true, true]);
      expect(bench.present?.status?.lastHandledReconcileAt).toBe('now');
    });

    test('dry-run reaches the sync module', async () => {
      const bench = new Bench(widget({ metadata: dryRun }));
      bench.sync = () => Promise.resolve(ready('DryRun', 'Nothing would be changed.'));
      await bench.reconcile();
      expect(bench.passes[0]?.dryRun).toBe(true);
    });

    test('a dry-run writes nothing but the status, which does not claim the new generation', async () => {
      const bench = new Bench(widget());
      await bench.reconcile();
      const { status } = bench.present!;
      bench.happened.length = 0;
      bench.present = widget({ metadata: { ...dryRun, generation: 2 }, ...(status && { status }) });
      bench.sync = () => Promise.resolve(stalled('DryRun', 'It would be changed.'));
      await bench.reconcile();
      expect(bench.happened).toEqual(['status', 'event']);
      expect(bench.condition('Ready')).toMatchObject({ reason: 'DryRun', observedGeneration: 2 });
      expect(bench.present.status?.observedGeneration).toBe(1);
      bench.sync = () => Promise.reject(new Error('boom'));
      await bench.reconcile();
      expect(bench.present.status?.observedGeneration).toBe(1);
    });

    test('a full reconcile that is requested during a dry-run is done after it', async () => {
      const requested = { [annotations.reconcileRequestedAt]: 'now' };
      const bench = new Bench(widget({ metadata: { annotations: { ...requested, ...dryRun.annotations } } }));
      bench.sync = ({ dryRun }) =>
        Promise.resolve(
          dryRun ? stalled('DryRun', 'It would be changed.') : ready('AutomationGenerated', 'In sync.'),
        );
      await bench.reconcile();
      const { status } = bench.present!;
      expect(status?.lastHandledReconcileAt).toBeUndefined();
      bench.present = widget({ metadata: { annotations: requested }, ...(status && { status }) });
      await bench.reconcile();
      expect(bench.passes.map(({ dryRun, forced }) => [dryRun, forced])).toEqual([
        [true, true],
        [false, true],
      ]);
      expect(bench.present.status?.lastHandledReconcileAt).toBe('now');
    });

    test('a dry-run adds no finalizer, and the reconcile after it does', async () => {
      const bench = new Bench(widget({ metadata: dryRun }), removable);
      bench.sync = () => Promise.resolve(ready('DryRun', 'Nothing would be changed.'));
      await bench.reconcile();
      expect(bench.happened).not.toContain('finalizers 1');
      bench.present = widget();
      await bench.reconcile();
      expect(bench.happened).toContain('finalizers 1');
      expect(bench.present.status?.observedGeneration).toBe(1);
    });

    test('while suspended only the condition is written, and a requested full reconcile stays pending', async () => {
      const bench = new Bench(
        widget({
          spec: { suspend: true },
          metadata: { annotations: { [annotations.reconcileRequestedAt]: 'now' } },
        }),
        removable,
      );
      await bench.reconcile();
      await bench.reconcile();
      expect(bench.passes).toHaveLength(0);
      expect(bench.happened).toEqual(['status']);
      expect(bench.condition('Suspended')?.status).toBe('True');
      expect(bench.present?.status?.lastHandledReconcileAt).toBeUndefined();
    });

    test.each([
      ['suspended', { spec: { suspend: true } }, 1],
      ['in dry-run', { metadata: { annotations: { [annotations.dryRun]: 'true' } } }, 1],
      ['neither', {}, 0],
    ])('its module stops running work of a resource that is %s', async (_, fields, held) => {
      const bench = new Bench(widget(fields));
      bench.sync = () => Promise.resolve(stalled('DryRun', 'Would write.'));
      await bench.reconcile();
      expect(bench.held).toBe(held);
    });

    test('while suspended the status does not claim the new generation', async () => {
      const bench = new Bench(widget());
      await bench.reconcile();
      expect(bench.present?.status?.observedGeneration).toBe(1);
      const { status } = bench.present!;
      bench.present = widget({
        spec: { suspend: true },
        metadata: { generation: 2 },
        ...(status && { status }),
      });
      await bench.reconcile();
      expect(bench.condition('Suspended')).toMatchObject({ status: 'True', observedGeneration: 2 });
      expect(bench.condition('Ready')).toMatchObject({ status: 'True', observedGeneration: 1 });
      expect(bench.present.status?.observedGeneration).toBe(1);
    });

    test('while suspended a deletion is carried out', async () => {
      const remove = jest.fn(removable);
      const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER] };
      const bench = new Bench(widget({ spec: { suspend: true }, metadata }), remove);
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(remove).toHaveBeenCalled();
    });
  });

  describe('deletion', () => {
    test('is announced to the module if it has something to remove', () => {
      const bench = new Bench(undefined, removable);
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      bench.reconciler.announceDeletion(
        widget({ metadata: { deletionTimestamp, finalizers: ['example.org/other'] } }),
      );
      expect(bench.announced).toBe(0);
      bench.reconciler.announceDeletion(widget({ metadata: { deletionTimestamp, finalizers: [FINALIZER] } }));
      expect(bench.announced).toBe(1);
    });

    const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER, 'example.org/other'] };

    test('the object is removed first, then events are written, then the finalizer is released', async () => {
      const bench: Bench = new Bench(widget({ metadata: going }), () => {
        bench.happened.push('remove');
        return Promise.resolve([{ type: 'Warning', reason: 'CleanupSkipped', message: 'left behind' }]);
      });
      await bench.reconcile();
      expect(bench.happened).toEqual(['remove', 'event', 'finalizers 0']);
    });

    test('a removal that waits for longer than 10 s reports why, and only once', async () => {
      const waits = waiting('Removing', 'The hub is busy.', 5_000);
      const bench = new Bench(widget({ metadata: going }), () => Promise.resolve(waits));
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 5_000, priority: 'change' });
      expect(bench.cluster.writes).toEqual([]);
      for (let count = 0; count < 3; count++) {
        await bench.clock.advance(5_000);
        await bench.reconcile();
      }
      expect(bench.condition('Ready')).toMatchObject({ reason: 'Removing', message: 'The hub is busy.' });
      expect(bench.happened).toEqual(['status']);
    });

    test('a removal that is not retried soon reports why immediately', async () => {
      const bench = new Bench(widget({ metadata: going }), () =>
        Promise.resolve(waiting('Forbidden', 'The claim is not released.', 30_000)),
      );
      await bench.reconcile();
      expect(bench.condition('Ready')).toMatchObject({ reason: 'Forbidden' });
    });

    test('a cleanup that fails releases the finalizer and emits an event', async () => {
      const bench = new Bench(widget({ metadata: going }), () =>
        Promise.reject(new Error('cannot parse hunter2')),
      );
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(bench.happened).toEqual(['event', 'finalizers 0']);
      expect(bench.events).toEqual(['Warning CleanupFailed']);
      expect(JSON.stringify(bench.cluster.writes)).toContain(BUG_MESSAGE);
      expect(JSON.stringify(bench.cluster.writes)).not.toContain('hunter2');
    });

    describe('with data that would be lost', () => {
      const lost = 'the volume';
      const removing = (failure: () => Promise<never>) =>
        new Bench(widget({ metadata: going }), failure, lost);

      test.each([
        ['a bug', new TypeError('hunter2'), 'InternalError', BUG_MESSAGE],
        ['a policy', new ApiError(403, 'Forbidden', 'may not'), 'Forbidden', 'may not'],
        [
          'an invalid request',
          new ApiError(422, 'Invalid', 'no such field'),
          'InternalError',
          'no such field',
        ],
        [
          'a webhook',
          new ApiError(500, 'x', 'failed calling webhook "w"'),
          'ApiServerError',
          'failed calling webhook "w"',
        ],
      ])(
        'the deletion waits after %s, and the message says how to end it',
        async (_, error, reason, words) => {
          let failure: Error | undefined = error;
          const bench = new Bench(
            widget({ metadata: going }),
            () => (failure ? Promise.reject(failure) : Promise.resolve([])),
            lost,
          );
          expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 30_000, priority: 'change' });
          const message =
            'The deletion waits and is tried again, because the volume would be deleted with it. ' +
            `To delete it now with all of that, remove its finalizer ${FINALIZER}. It failed with: ${words}`;
          expect(bench.condition('Ready')).toMatchObject({ status: 'False', reason, message });
          expect(bench.happened).toEqual(['status']);
          failure = undefined;
          expect(await bench.reconcile()).toEqual({ type: 'gone' });
          expect(bench.happened.at(-1)).toBe('finalizers 0');
        },
      );

      test('the deletion waits after a cleanup that hangs', async () => {
        const bench = removing(() => new Promise(() => undefined));
        const next = bench.reconcile();
        await bench.clock.advance(RECONCILE_TIMEOUT);
        expect(await next).toMatchObject({ type: 'requeue', after: 30_000 });
        expect(bench.happened).not.toContain('finalizers 0');
      });

      test.each([new ApiServerUnreachable('ECONNREFUSED'), new Stopping('no lease')])(
        'the deletion is retried after %s',
        async (error) => {
          const bench = removing(() => Promise.reject(error));
          expect(await bench.reconcile()).toMatchObject({ type: 'retry', error });
          expect(bench.cluster.writes).toEqual([]);
        },
      );
    });

    test.each([
      ['a broken server', new ApiError(500, 'InternalError', 'etcd is gone')],
      ['a busy server', new ApiError(429, 'TooManyRequests', 'busy', 7_000)],
      ['no server', new ApiServerUnreachable('ECONNREFUSED')],
    ])('a deletion is retried after %s', async (_, error) => {
      const bench = new Bench(widget({ metadata: going }), () => Promise.reject(error));
      expect(await bench.reconcile()).toMatchObject({ type: 'retry', error });
      expect(bench.cluster.writes).toEqual([]);
    });

    test('an API server that forbids the cleanup does not block the namespace', async () => {
      const bench = new Bench(widget({ metadata: going }), () =>
        Promise.reject(new ApiError(403, 'Forbidden', 'may not')),
      );
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(bench.events).toEqual(['Warning CleanupFailed']);
    });

    test('a cleanup that hangs is abandoned and the finalizer released', async () => {
      const bench = new Bench(widget({ metadata: going }), () => new Promise(() => undefined));
      const next = bench.reconcile();
      await bench.clock.advance(RECONCILE_TIMEOUT);
      expect(await next).toEqual({ type: 'gone' });
    });

    test('a deletion that the loss of leadership interrupts is left to the next leader', async () => {
      const bench = new Bench(widget({ metadata: going }), () => new Promise(() => undefined));
      const next = bench.reconcile();
      await settle();
      bench.leadership.abort(new Error('no longer the leader'));
      expect(await next).toMatchObject({ type: 'retry' });
      expect(bench.cluster.writes).toEqual([]);
    });

    test('a cleanup that may not write any more is left to the next leader', async () => {
      const bench = new Bench(widget({ metadata: going }), () => Promise.reject(new Stopping('no lease')));
      expect(await bench.reconcile()).toMatchObject({ type: 'retry' });
      expect(bench.cluster.writes).toEqual([]);
      expect(bench.events).toEqual([]);
    });

    test('the object is removed once, also while another finalizer holds the resource', async () => {
      const remove = jest.fn(removable);
      const bench = new Bench(widget({ metadata: going }), remove);
      bench.cluster.handler = ({ body }) =>
        widget({ metadata: { ...going, ...(body as Widget).metadata, finalizers: ['example.org/other'] } });
      await bench.reconcile();
      await bench.reconcile();
      expect(remove).toHaveBeenCalledTimes(1);
    });
  });

  describe('an object that passes to another resource', () => {
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER] };
    const condition = (type: string, reason: string) => ({
      type,
      status: 'True' as const,
      reason: reason as never,
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    const record = { areaID: 'kitchen', adopted: true, appliedHash: 'sha256:1' };
    const old = widget({
      metadata: going,
      status: {
        ...record,
        observedGeneration: 1,
        lastHandledReconcileAt: 'before',
        conditions: [condition('Ready', 'AreaRegistered'), condition('ReloadReady', 'ReloadSuccessful')],
      },
    });
    const waits = { conditions: [condition('Ready', 'DuplicateId')], observedGeneration: 3 };
    const another = (fields: Parameters<typeof widget>[0] = {}) =>
      widget({ ...fields, metadata: { name: 'b', uid: 'uid-b', generation: 3, ...fields.metadata } });
    /** Successors with which the removals were called. */
    const asked: (Widget | undefined)[] = [];
    const remove: SyncModule<Widget>['remove'] = (_, __, successor) => {
      asked.push(successor);
      return Promise.resolve(successor ? HAND_OVER : []);
    };
    beforeEach(() => asked.splice(0));

    /** Makes a server with the deleted resource and those with the same object. */
    function benchWith(...others: Widget[]): Bench {
      const bench = new Bench(old, remove);
      bench.others = others;
      bench.cluster.handler = ({ path, method, body }) => {
        if (path.includes('/events')) return body;
        const successor = others.find(({ metadata }) => path.includes(`/widgets/${metadata.name}`));
        const stored = successor ?? old;
        if (method === 'GET') return stored;
        const { metadata, status } = body as Widget;
        bench.happened.push(`${stored.metadata.name} ${path.endsWith('/status') ? 'status' : 'finalizers'}`);
        return path.endsWith('/status')
          ? { ...stored, status }
          : { ...stored, metadata: { ...stored.metadata, finalizers: metadata.finalizers ?? [] } };
      };
      return bench;
    }

    test('the successor gets the record of the object in status before the finalizer is released', async () => {
      const bench = benchWith(another({ status: waits }));
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(bench.happened).toEqual(['b finalizers', 'b status', 'a finalizers']);
      const written = bench.cluster.writes.find(({ path }) => path.endsWith('/widgets/b/status'))!;
      const { status } = written.body as Widget;
      expect(status).toEqual({
        ...record,
        observedGeneration: 3,
        conditions: [
          condition('Ready', 'DuplicateId'),
          { ...condition('ReloadReady', 'ReloadSuccessful'), observedGeneration: 3 },
        ],
      });
      expect(bench.events).toEqual(['Normal TakenOver']);
    });

    test('the same again, after a crash before the finalizer was released, writes nothing to the successor', async () => {
      const conditions = [...waits.conditions, condition('ReloadReady', 'ReloadSuccessful')].map((each) => ({
        ...each,
        observedGeneration: 3,
      }));
      const bench = benchWith(another({ status: { ...waits, ...record, conditions } }));
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(bench.happened).toEqual(['b finalizers', 'a finalizers']);
    });

    test('the progress of the deleted resource is its own, and that of a successor is no object', async () => {
      const bench = benchWith(another({ status: { ...waits, phase: 'Failed' } }));
      bench.present = { ...old, status: { ...old.status, phase: 'Removing' } };
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      const written = bench.cluster.writes.find(({ path }) => path.endsWith('/widgets/b/status'))!;
      expect((written.body as Widget).status).toMatchObject({ ...record, phase: 'Failed' });
    });

    test.each([
      ['is being deleted, too', another({ metadata: going, status: waits })],
      ['has an object of its own', another({ status: { ...waits, areaID: 'attic' } })],
    ])('a successor that %s takes over nothing', async (_, other) => {
      const bench = benchWith(other);
      expect(await bench.reconcile()).toEqual({ type: 'gone' });
      expect(asked).toEqual([undefined]);
      expect(bench.happened).toEqual(['a finalizers']);
    });

    test('a resource that does not own the object hands nothing over', async () => {
      const bench = benchWith(another({ status: waits }));
      bench.conflictingOwner = 'Widget/home/b';
      await bench.reconcile();
      expect(asked).toEqual([undefined]);
    });

    test('when a successor is deleted in the meantime, another one is searched for', async () => {
      const bench = benchWith(another({ status: waits }));
      const { handler } = bench.cluster;
      bench.cluster.handler = (request) => {
        if (request.path.includes('/widgets/b')) throw notFound();
        return handler(request);
      };
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 0, priority: 'change' });
      expect(bench.happened).toEqual([]);
    });
  });

  describe('errors', () => {
    test('a reconcile that may not write any more reports nothing', async () => {
      const bench = new Bench(widget());
      bench.sync = () => Promise.reject(new Stopping('no lease'));
      expect(await bench.reconcile()).toMatchObject({ type: 'retry' });
      expect(bench.condition('Ready')).toBeUndefined();
    });

    test('an unexpected error is written to the status and retried', async () => {
      const bench = new Bench(widget());
      bench.sync = () => Promise.reject(new Error('cannot parse hunter2'));
      expect(await bench.reconcile()).toMatchObject({ type: 'retry' });
      const { status, reason, message } = bench.condition('Ready')!;
      expect([status, reason, message]).toEqual(['False', 'InternalError', BUG_MESSAGE]);
      expect(bench.log.at('error')).toHaveLength(1);
    });

    test.each([
      ['a string', 'boom'],
      ['undefined', undefined],
      ['an object', { oh: 'no' }],
    ])('%s that is thrown is handled like an error', async (_, thrown) => {
      const bench = new Bench(widget());
      bench.sync = () => Promise.reject(thrown);
      const next = await bench.reconcile();
      expect(next).toMatchObject({ type: 'retry', error: expect.any(Error) });
      expect(bench.condition('Ready')?.reason).toBe('InternalError');
    });

    test('a sync module and a reader that throw synchronously are retried', async () => {
      const bench = new Bench(widget());
      bench.sync = () => {
        throw new TypeError('not even a promise');
      };
      expect(await bench.reconcile()).toMatchObject({ type: 'retry' });
      bench.readError = new Error('the store is broken');
      expect(await bench.reconcile()).toMatchObject({
        type: 'retry',
        error: { message: 'the store is broken' },
      });
    });

    test.each([
      ['a conflict', new ApiError(409, 'Conflict', 'modified')],
      ['a busy server', new ApiError(429, 'TooManyRequests', 'busy', 7_000)],
      ['a broken server', new ApiError(500, 'InternalError', 'etcd is gone')],
      ['no server', new ApiServerUnreachable('ECONNREFUSED')],
    ])('after %s no status is written and no error is logged', async (_, error) => {
      const bench = new Bench(widget());
      bench.sync = () => Promise.reject(error);
      const atLeast = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
      expect(await bench.reconcile()).toEqual({ type: 'retry', error, atLeast });
      expect(bench.cluster.writes).toEqual([]);
      expect(bench.log.at('error')).toEqual([]);
    });

    test('an API server that fails for a minute is reported in the conditions, once', async () => {
      const bench = new Bench(widget());
      bench.sync = () => Promise.reject(new ApiError(500, 'InternalError', 'etcd is gone'));
      await bench.reconcile();
      await bench.clock.advance(59_999);
      await bench.reconcile();
      expect(bench.cluster.writes).toEqual([]);
      await bench.clock.advance(1);
      for (let retry = 0; retry < 3; retry++) await bench.reconcile();
      expect(bench.cluster.writes).toHaveLength(1);
      expect(bench.condition('Ready')).toMatchObject({
        status: 'False',
        reason: 'ApiServerError',
        message: 'The API server has failed for more than 60 s: etcd is gone',
      });
      expect(bench.condition('Reconciling')?.status).toBe('True');
    });

    test('failures of the API server with a success in between are not reported', async () => {
      const bench = new Bench(widget());
      await bench.reconcile();
      const { sync } = bench;
      const { length } = bench.cluster.writes;
      for (let round = 0; round < 5; round++) {
        bench.sync = () => Promise.reject(new ApiError(500, 'InternalError', 'etcd is gone'));
        await bench.reconcile();
        await bench.clock.advance(40_000);
        bench.sync = sync;
        await bench.reconcile();
      }
      expect(bench.cluster.writes).toHaveLength(length);
    });

    test('an admission webhook that does not answer is reported at once', async () => {
      const bench = new Bench(widget());
      const message = 'Internal error occurred: failed calling webhook "w.example.org": connection refused';
      bench.sync = () => Promise.reject(new ApiError(500, 'InternalError', message));
      expect(await bench.reconcile()).toMatchObject({ type: 'retry' });
      expect(bench.condition('Ready')).toMatchObject({ status: 'False', reason: 'ApiServerError', message });
    });

    test('a missing permission is named in the status', async () => {
      const bench = new Bench(widget());
      const message = 'secrets "x" is forbidden: exceeded quota';
      bench.sync = () => Promise.reject(new ApiError(403, 'Forbidden', message));
      expect(await bench.reconcile()).toEqual({ type: 'stalled', after: 30_000 });
      expect(bench.condition('Ready')).toMatchObject({ status: 'False', reason: 'Forbidden', message });
    });

    test('a finalizer that may not be added is retried every 30 s, and is not a bug of the operator', async () => {
      const bench = new Bench(widget(), removable);
      const serve = bench.cluster.handler;
      bench.cluster.handler = (request) => {
        if (!request.path.endsWith('/status')) throw new ApiError(403, 'Forbidden', 'widgets is forbidden');
        return serve(request);
      };
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 30_000, priority: 'change' });
      expect(bench.condition('Ready')).toMatchObject({
        reason: 'Forbidden',
        message: 'widgets is forbidden',
      });
    });

    test('the error is returned even if the status cannot be written', async () => {
      const bench = new Bench(widget());
      bench.sync = () => Promise.reject(new Error('the real cause'));
      bench.cluster.handler = () => {
        throw new ApiServerUnreachable('down');
      };
      expect(await bench.reconcile()).toMatchObject({ error: { message: 'the real cause' } });
    });

    test('a reconcile is aborted and abandoned at its time limit', async () => {
      const bench = new Bench(widget());
      bench.sync = () => new Promise(() => undefined);
      const next = bench.reconcile();
      await bench.clock.advance(RECONCILE_TIMEOUT);
      expect(await next).toMatchObject({ type: 'retry' });
      expect(bench.passes[0]?.signal.aborted).toBe(true);
      expect(bench.condition('Ready')?.message).toContain('120 s');
    });

    test('no other reconcile of a resource starts while an abandoned one is running', async () => {
      const bench = new Bench(widget());
      let end!: () => void;
      bench.sync = () => new Promise((resolve) => (end = () => resolve(ready('AutomationGenerated', ''))));
      const next = bench.reconcile();
      await bench.clock.advance(RECONCILE_TIMEOUT);
      await next;
      expect(await bench.reconcile()).toMatchObject({ type: 'retry' });
      expect(bench.passes).toHaveLength(1);
      await bench.clock.advance(1_000);
      expect(bench.oldestAbandoned).toBe(RECONCILE_TIMEOUT + 1_000);
      end();
      await settle();
      expect(bench.oldestAbandoned).toBe(0);
      void bench.reconcile();
      await settle();
      expect(bench.passes).toHaveLength(2);
      end();
    });

    test('a reconcile that the loss of leadership interrupts writes nothing', async () => {
      const bench = new Bench(widget());
      bench.sync = ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      const next = bench.reconcile();
      await settle();
      bench.leadership.abort(new Error('no longer the leader'));
      await next;
      expect(bench.cluster.writes).toEqual([]);
    });

    test('no timer is left after a reconcile', async () => {
      const bench = new Bench(widget());
      await bench.reconcile();
      bench.sync = () => Promise.reject(new Error('boom'));
      await bench.reconcile();
      expect(bench.clock.pendingTimers).toBe(0);
    });

    test('an integer beyond 2^53 is refused with its path and the advice to quote it', async () => {
      const spec = parseJson('{"actions": [{"data": {"chat_id": 9007199254740993}}]}') as object;
      const bench = new Bench(widget({ spec }));
      bench.sync = () => Promise.reject(new Error('not to be called'));
      expect(await bench.reconcile()).toEqual({ type: 'stalled' });
      expect(bench.condition('Ready')).toMatchObject({
        reason: 'InvalidSpec',
        message:
          'spec.actions[0].data.chat_id is the integer 9007199254740993, which is beyond 2^53 and would lose digits. ' +
          'Quote it: "9007199254740993".',
      });
    });

    test('a resource that was too large for the cache is refused, and its module is not called', async () => {
      const bench = new Bench({ ...widget(), omitted: ['spec.actions'] });
      bench.sync = () => Promise.reject(new Error('not to be called'));
      expect(await bench.reconcile()).toEqual({ type: 'stalled' });
      expect(bench.condition('Ready')).toMatchObject({
        reason: 'InvalidSpec',
        message: expect.stringContaining('spec.actions cannot be processed') as unknown,
      });
    });

    test('an object of another owner stalls the resource, and one that is being deleted is waited for', async () => {
      const bench = new Bench(widget());
      bench.sync = () => Promise.reject(new NameConflict('taken', false));
      expect(await bench.reconcile()).toEqual({ type: 'stalled', after: 30_000 });
      expect(bench.condition('Stalled')).toMatchObject({ reason: 'NameConflict', message: 'taken' });
      bench.sync = () => Promise.reject(new NameConflict('still going', true));
      expect(await bench.reconcile()).toEqual({ type: 'requeue', after: 3_000, priority: 'change' });
    });
  });

  describe('events', () => {
    const steps: [string, Outcome, string[]][] = [
      ['first wait: nothing happened yet', waiting('NamespaceTerminating', 'none', 1), []],
      ['ready', ready('AutomationGenerated', 'ok'), ['Normal AutomationGenerated']],
      ['ready again', ready('AutomationGenerated', 'still ok'), []],
      ['not ready any more', waiting('HubFailed', 'gone', 1), ['Warning HubFailed']],
      ['still not', waiting('HubNotReady', 'starts', 1), []],
      ['the state of its Hub', waiting('HubUnreachable', 'gone', 1), []],
      ['ready again after that', ready('AutomationGenerated', 'ok'), []],
      [
        'not ready any more, as requested',
        waiting('HubFailed', 'gone', 1, {
          events: [{ type: 'Normal', reason: 'HubFailed', message: 'gone' }],
        }),
        ['Normal HubFailed'],
      ],
      ['the state of its Hub again', waiting('HubNotReady', 'gone', 1), []],
      ['stalled', stalled('RejectedByHub', 'no'), ['Warning RejectedByHub']],
      ['stalled for the same reason', stalled('RejectedByHub', 'no, again'), []],
      ['stalled for another', stalled('InvalidSpec', 'no'), ['Warning InvalidSpec']],
      ['ready in the end', ready('AutomationGenerated', 'fine'), ['Normal AutomationGenerated']],
      ['a change of the operator is in progress', waiting('Downloading', 'comes', 1), ['Normal Downloading']],
      ['its next step', waiting('Installing', 'comes', 1), []],
      ['it fails', waiting('InstallFailed', 'no', 1), ['Warning InstallFailed']],
      ['still', waiting('InstallFailed', 'no', 1), []],
    ];

    test('an event is emitted on a transition and not on a repetition', async () => {
      const bench = new Bench(widget());
      for (const [name, outcome, expected] of steps) {
        const before = bench.events.length;
        bench.sync = () => Promise.resolve(outcome);
        await bench.reconcile();
        expect({ name, events: bench.events.slice(before) }).toEqual({ name, events: expected });
      }
    });

    test('an event about what was done is emitted although the status cannot be written', async () => {
      const bench = new Bench(widget());
      const reverted = { type: 'Warning', reason: 'DriftDetected', message: 'reverted' } as const;
      bench.sync = () => Promise.resolve(ready('AutomationGenerated', 'ok', { events: [reverted] }));
      const serve = bench.cluster.handler;
      bench.cluster.handler = (request) => {
        if (request.path.endsWith('/status')) throw new ApiError(429, 'Too Many Requests', 'busy', 1_000);
        return serve(request);
      };
      expect(await bench.reconcile()).toMatchObject({ type: 'retry' });
      bench.cluster.handler = serve;
      bench.sync = () => Promise.resolve(ready('AutomationGenerated', 'ok'));
      await bench.reconcile();
      expect(bench.events).toEqual(['Warning DriftDetected', 'Normal AutomationGenerated']);
    });

    test('an event is not repeated by retries while the status cannot be written', async () => {
      const bench = new Bench(widget());
      const adopted = { type: 'Warning', reason: 'Adopted', message: 'adopted' } as const;
      bench.sync = () => Promise.resolve(waiting('AutomationGenerated', 'ok', 0, { events: [adopted] }));
      const serve = bench.cluster.handler;
      const records = () =>
        bench.cluster.writes.filter(({ path }) => path.includes('/events')).map(({ method }) => method);
      bench.cluster.handler = (request) => {
        if (request.path.endsWith('/status')) throw new ApiError(403, 'Forbidden', 'a policy refuses it');
        return serve(request);
      };
      for (let round = 0; round < 3; round++) {
        expect(await bench.reconcile()).toMatchObject({ type: 'requeue', after: 30_000 });
        expect(records()).toEqual(['POST']);
      }
      const { present } = bench;
      const other = { ...present!, metadata: { ...present!.metadata, uid: 'another' } };
      bench.present = other;
      await bench.reconcile();
      expect(records()).toEqual(['POST', 'POST']);
      bench.sync = () => Promise.resolve(ready('AutomationGenerated', 'ok'));
      await bench.reconcile();
      bench.sync = () => Promise.resolve(waiting('AutomationGenerated', 'ok', 0, { events: [adopted] }));
      await bench.reconcile();
      expect(records()).toEqual(['POST', 'POST', 'PATCH']);
      bench.cluster.handler = serve;
      await bench.reconcile();
      expect(records()).toEqual(['POST', 'POST', 'PATCH']);
      await bench.reconcile();
      expect(records()).toEqual(['POST', 'POST', 'PATCH', 'PATCH']);
    });
  });
});
