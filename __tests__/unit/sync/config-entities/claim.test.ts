import type { HubClient } from '../../../../operator/client/hub-client';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import { automations } from '../../../../operator/sync/config-entities/automation';
import { Claims } from '../../../../operator/sync/config-entities/claim';
import { EntityCache } from '../../../../operator/sync/config-entities/entity-cache';
import type { EntityContexts } from '../../../../operator/sync/config-entities/entity-contexts';
import type { Child } from '../../../../operator/sync/objects/child';
import { ManualClock } from '../../manual-clock';
import { services } from '../fixtures';

const client = {} as HubClient;

let resources: Child[];
/** Number of times that all resources of the hub were listed. */
let lists: number;
let entities: EntityCache;
/** Ids of claims in the ConfigMaps, by uid. */
let delivered: Map<string, string>;
let claims: Claims<Child>;

const automation = (name: string, status: object = {}, metadata: object = {}): Child =>
  ({
    kind: 'HubAutomation',
    metadata: { name, namespace: 'home', uid: name, ...metadata },
    spec: { hubRef: { name: 'villa' } },
    status,
  }) as unknown as Child;

const porch = automation('porch', { automationId: 'light' });

const ofHub = (kind: string, namespace: string, hub: string) =>
  resources.filter(
    (each) => each.kind === kind && each.metadata.namespace === namespace && each.spec.hubRef.name === hub,
  );

beforeEach(() => {
  resources = [porch];
  lists = 0;
  entities = new EntityCache(new ManualClock());
  delivered = new Map();
  const definitions = {
    claimOf: (_: string, uid: string) => delivered.get(uid),
    isClaimed: (_: string, id: string) => [...delivered.values()].includes(id),
  };
  const contexts = {
    of: () => ({ cache: entities, places: { claims: definitions } }),
  } as unknown as EntityContexts;
  const given = services({
    cache: {
      *ofHub<T extends ClusterObject>(kind: string, namespace: string, hub: string) {
        lists += 1;
        yield* ofHub(kind, namespace, hub) as unknown as T[];
      },
      *ofHubByStatus<T extends ClusterObject>(
        kind: string,
        namespace: string,
        hub: string,
        field: string,
        text: string,
      ) {
        yield* ofHub(kind, namespace, hub).filter(({ status }) => status?.[field] === text) as unknown as T[];
      },
    },
  });
  claims = new Claims(automations, given, contexts);
});

describe('ownerOf', () => {
  test('is another resource whose status records the object, unless it is being deleted', () => {
    expect(claims.ownerOf('light', porch, client)).toBeUndefined();
    resources.push(
      automation('gone', { automationId: 'light' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    );
    expect(claims.ownerOf('light', porch, client)).toBeUndefined();
    resources.push(automation('other', { automationId: 'light' }));
    expect(claims.ownerOf('light', porch, client)?.metadata.name).toBe('other');
    expect(claims.ownerOf('else', porch, client)).toBeUndefined();
  });

  test.each<[string, object]>([
    ['of another hub', { spec: { hubRef: { name: 'cabin' } } }],
    ['of another namespace', { metadata: { name: 'away', namespace: 'away', uid: 'away' } }],
    ['of another kind', { kind: 'HubScript' }],
  ])('is no resource %s', (_, difference) => {
    resources.push({ ...automation('other', { automationId: 'light' }), ...difference });
    expect(claims.ownerOf('light', porch, client)).toBeUndefined();
  });

  test('does not list the resources of the hub while the object is not claimed', () => {
    entities.get('new').claim = 'else';
    delivered.set('new', 'else');
    claims.ownerOf('light', porch, client);
    expect(lists).toBe(0);
  });

  test.each([
    ['this process', () => (entities.get('new').claim = 'light')],
    ['a ConfigMap', () => delivered.set('new', 'light')],
  ])('is a resource for which %s claims the object, as long as its status records no other', (_, claim) => {
    resources.push(automation('new'));
    claim();
    expect(claims.ownerOf('light', porch, client)?.metadata.name).toBe('new');
    expect(claims.ownerOf('else', porch, client)).toBeUndefined();
    resources = [porch, automation('new', { automationId: 'else' })];
    expect(claims.ownerOf('light', porch, client)).toBeUndefined();
  });
});
