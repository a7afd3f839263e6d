import { hub as definition, type Hub } from '../../../operator/kinds';
import { API_GROUP } from '../../../operator/kinds/group';
import { defaulted } from '../../../operator/kinds/schema';
import { readSettings } from '../../../operator/process/settings';
import { stalled } from '../../../operator/runtime/outcome';
import type { Claim } from '../../../operator/sync/hub-pod/owned-objects';
import type { HubContext } from '../../../operator/sync/hub/steps';
import type { SecretContent } from '../../../operator/runtime/secrets';
import type { ClusterObject } from '../../../operator/runtime/objects';
import type { OwnEntitySettings } from '../../../operator/sync/objects/own-entity';
import type { Services } from '../../../operator/sync/services';
import { unbounded } from '../../../operator/base/bounded-task';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock } from '../manual-clock';
import { objectMetadata } from '../object-metadata';

/** Returns the Hub `villa` in the namespace `home`. */
export function aHub(
  fields: { metadata?: Partial<Hub['metadata']>; spec?: Hub['spec']; status?: Hub['status'] } = {},
): Hub {
  const { metadata, spec = {}, status } = fields;
  return {
    apiVersion: `${API_GROUP}/v1`,
    kind: 'Hub',
    metadata: {
      ...objectMetadata,
      name: 'villa',
      uid: 'uid-of-villa',
      ...metadata,
    },
    spec,
    ...(status && { status }),
  };
}

/** Returns the context of one reconcile of a Hub, as its first step gets it. */
export function aHubContext(hub = aHub(), reconcile: Partial<HubContext['reconcile']> = {}): HubContext {
  const { signal } = new AbortController();
  return {
    hub,
    spec: defaulted(definition.spec, hub.spec),
    reconcile: { signal, log: silentLog, forced: false, dryRun: false, ...reconcile },
    status: {},
    conditions: {},
    events: [],
    notices: [],
  };
}

/** The claim of the Hub `villa`, on which no version has run yet. */
export const aClaim = {
  kind: 'PersistentVolumeClaim',
  metadata: { ...objectMetadata, name: 'villa-config', uid: 'uid-of-villa-config' },
  spec: {},
} satisfies Claim;

/** The state after a failed step of the storage. */
export const uncheckedClaim = {
  claim: undefined,
  claimProblem: { outcome: stalled('Forbidden', 'The claim is forbidden.'), isChecked: false },
} as const;

/** The members of the services that a test provides, each as far as it is used. */
type PartialServices = {
  readonly [Name in keyof Services]?: Services[Name] extends (...args: never[]) => unknown
    ? Services[Name]
    : Partial<Services[Name]>;
};

/**
 * Returns services for a sync module. A member or method that the test did not provide throws when it is
 * used.
 */
export function services(given: PartialServices = {}): Services {
  const standard = {
    clock: new ManualClock(),
    log: silentLog,
    assertLeader: () => undefined,
    requeue: () => undefined,
    texts: unbounded,
  };
  const settings = { ...readSettings([], {}), ...given.settings };
  const cache = given.cache && { ...byStatus(given.cache), ...given.cache };
  return strict(
    { ...standard, ...given, settings, ...(cache && { cache }) },
    'services',
  ) as unknown as Services;
}

/** Finds resources as the cache does, among those of the hub that the test provided. */
const byStatus = ({ ofHub }: Partial<Services['cache']>): Partial<Services['cache']> => ({
  *ofHubByStatus<T extends ClusterObject>(
    kind: string,
    at: string,
    hub: string,
    field: string,
    text: string,
  ) {
    for (const each of ofHub!<T & { status?: Record<string, unknown> }>(kind, at, hub))
      if (each.status?.[field] === text) yield each;
  },
});

/** Returns a reader of Secrets with these values, labels and types. */
export function secretReader(
  valuesOf: (name: string) => ReadonlyMap<string, string> | undefined,
  marks: Pick<SecretContent, 'labels' | 'type'> = {},
): Pick<Services['secrets'], 'get' | 'find'> {
  return {
    get: (_, name) => Promise.resolve(valuesOf(name)),
    find: (_, name) => {
      const values = valuesOf(name);
      const bytes = new Map([...(values ?? [])].map(([key, value]) => [key, Buffer.from(value)]));
      return Promise.resolve(values && { ...marks, values, bytes, binary: new Set<string>() });
    },
  };
}

/**
 * Wraps an object, so that a missing member throws a clear error instead of `undefined is not a function`.
 */
function strict<T extends object>(object: T, name: string): T {
  return new Proxy(object, {
    get(target, key, receiver) {
      if (!(key in target) && typeof key === 'string' && key !== 'then' && key !== 'toJSON')
        throw new Error(`cannot use ${name}.${key}: the test did not give it`);
      const value: unknown = Reflect.get(target, key, receiver);
      const nested = name === 'services' && typeof value === 'object' && value !== null && isPlain(value);
      return nested ? strict(value, `${name}.${String(key)}`) : value;
    },
  });
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/** Stands in for the settings of resources without `spec.entity`. */
export const noSettings: OwnEntitySettings = {
  settle: (made) => Promise.resolve(made),
  putBack: () => Promise.resolve([]),
  objectOf: () => undefined,
  forget: () => undefined,
};
