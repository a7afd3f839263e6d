import type { HubClient } from '../../../../operator/client/hub-client';
import type { EntityListener } from '../../../../operator/client/registries/entity-registry';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import type { Child } from '../../../../operator/sync/objects/child';
import { automations } from '../../../../operator/sync/config-entities/automation';
import { EntityContexts } from '../../../../operator/sync/config-entities/entity-contexts';
import { services } from '../fixtures';
import { hubClient } from '../../stand-in-hub/hub-client';

const SENT = { observedGeneration: 2, automationId: 'lights', appliedHash: 'sha256:1' };

let resource: Child;
let expectsWrites: (component: string) => boolean;
let contexts: EntityContexts;
let client: HubClient;
/** Further automations of the hub. */
let others: Child[];
let requeued: string[];
let entityChanged: EntityListener;

/** Replaces the only automation of the hub. */
function see(status: object | undefined, spec: object = {}, metadata: object = {}): void {
  resource = {
    kind: 'HubAutomation',
    metadata: { name: 'lights', namespace: 'home', uid: 'uid', generation: 2, ...metadata },
    spec: { hubRef: { name: 'villa' }, ...spec },
    status,
  } as unknown as Child;
}

beforeEach(() => {
  [others, requeued] = [[], []];
  const given = services({
    requeue: (_kind, _namespace, name) => void requeued.push(name),
    cache: {
      *ofHub<T extends ClusterObject>(kind: string) {
        if (kind === 'HubAutomation') yield* [resource, ...others] as ClusterObject[] as T[];
      },
    },
  });
  const ignore = () => undefined;
  client = hubClient({
    events: { onEvent: ignore },
    entityRegistry: { onChange: (listener: EntityListener) => (entityChanged = listener) },
    repairIssues: { onChange: ignore },
    reloads: { deferWhile: (predicate: typeof expectsWrites) => (expectsWrites = predicate) },
  });
  contexts = new EntityContexts(given, [automations]);
  see(SENT);
  contexts.of(client, resource);
});

describe('EntityContexts', () => {
  test.each<[string, object | undefined, object, object]>([
    ['was created', undefined, {}, {}],
    ['was edited', { ...SENT, observedGeneration: 1 }, {}, {}],
    ['has its id in status and was not sent yet', { observedGeneration: 2, automationId: 'lights' }, {}, {}],
  ])('defer the reload of automations for one that %s', (_what, status, spec, metadata) => {
    see(status, spec, metadata);
    expect([expectsWrites('automation'), expectsWrites('scene')]).toEqual([true, false]);
  });

  test.each<[string, object | undefined, object, object]>([
    ['was sent', SENT, {}, {}],
    ['waits for something else', { observedGeneration: 2 }, {}, {}],
    [
      'has its id in status and an invalid spec',
      { observedGeneration: 2, automationId: 'lights', conditions: [{ type: 'Stalled', status: 'True' }] },
      {},
      {},
    ],
    ['is suspended', undefined, { suspend: true }, {}],
    ['is a dry run', undefined, {}, { annotations: { 'hub-operator.dev/dry-run': 'true' } }],
    ['is being deleted', undefined, {}, { deletionTimestamp: '2026-11-22T00:00:00Z' }],
  ])('do not defer it for one that %s', (_what, status, spec, metadata) => {
    see(status, spec, metadata);
    expect(expectsWrites('automation')).toBe(false);
  });

  test('do not defer it for one whose status does not yet say that it was sent', () => {
    see({ ...SENT, observedGeneration: 1 });
    const cached = contexts.of(client, resource).cache.get('uid');
    cached.desired = { generation: 1, hash: '' };
    expect(expectsWrites('automation')).toBe(true);
    cached.desired = { generation: 2, hash: '' };
    expect(expectsWrites('automation')).toBe(false);
    see({ ...SENT, observedGeneration: 2 }, {}, { generation: 3 });
    expect(expectsWrites('automation')).toBe(true);
    Object.assign(cached, { operation: {} });
    expect(expectsWrites('automation')).toBe(false);
  });

  test.each(['operation', 'rejection', 'failure'])(
    'do not defer it for one whose write has begun or failed (%s)',
    (field) => {
      see({ observedGeneration: 2, automationId: 'lights' });
      Object.assign(contexts.of(client, resource).cache.get('uid'), { [field]: {} });
      expect(expectsWrites('automation')).toBe(false);
    },
  );

  test('an entity that a user changes in the hub affects only the resource to which the object belongs', () => {
    const metadata = { ...resource.metadata, name: 'porch', uid: 'other' };
    others = [{ ...resource, metadata, status: { ...SENT, automationId: 'porch' } }];
    const { cache } = contexts.of(client, resource);
    const sources = () => ['uid', 'other'].map((uid) => cache.get(uid).observed.source);
    entityChanged('automation', 'porch');
    expect(requeued).toEqual(['porch']);
    expect(sources()).toEqual(['status', 'none']);
    // Answers of a hub are untrusted, so an entry may lack its id.
    entityChanged('automation', undefined as never);
    expect(requeued).toEqual(['porch']);
  });
});
