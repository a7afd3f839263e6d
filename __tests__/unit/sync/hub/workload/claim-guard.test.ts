import type { Hub } from '../../../../../operator/kinds';
import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import { ApiError } from '../../../../../operator/runtime/api-errors';
import type { Manifest } from '../../../../../operator/runtime/apply';
import type { ClusterObject, ResourceType } from '../../../../../operator/runtime/objects';
import { ready } from '../../../../../operator/runtime/outcome';
import { builtin } from '../../../../../operator/runtime/types';
import { HUB_CONTAINER, type StatefulSet } from '../../../../../operator/sync/hub-pod/owned-objects';
import type { PodRestarts } from '../../../../../operator/sync/hub-pod/pod-restarts';
import { continueOnFailure, Steps } from '../../../../../operator/sync/hub/steps';
import { Rollouts } from '../../../../../operator/sync/hub/workload/rollouts';
import { ensureStatefulSet } from '../../../../../operator/sync/hub/workload/statefulset';
import { ensureStorage } from '../../../../../operator/sync/hub/workload/storage';
import { aClaim, aHub, aHubContext, services } from '../../fixtures';
import { ManualClock } from '../../../manual-clock';

// What runs on which claim when the check of the claim fails. The Hub villa runs on its own claim, the Hub
// house on house-config.

const IMAGE = 'ghcr.io/home-assistant/home-assistant';
const house = aHub({
  metadata: { name: 'house', uid: 'uid-of-house', creationTimestamp: '2020-01-01T00:00:00Z' },
});
const ownedByHouse = { apiVersion: 'hub-operator.dev/v1', kind: 'Hub', name: 'house', uid: 'uid-of-house' };

/** A failing request, identified by its method, kind and name. */
interface Failing {
  readonly method: 'GET' | 'PATCH' | 'LIST';
  readonly kind: string;
  readonly name?: string;
}

interface Situation {
  readonly spec?: Hub['spec'];
  readonly failing?: Failing;
  readonly error?: ApiError;
  /** The claim that the StatefulSet of villa mounts. Default: its own. */
  readonly mounted?: string;
  /** A second claim that the StatefulSet mounts. */
  readonly beside?: string;
  /** The version that ran on the claim of villa. */
  readonly ran?: string;
  /** The restart hash of the configuration. The applied one is `sha256:1`. */
  readonly restartHash?: string;
}

const setOf = (name: string, claimName: string, image: string, beside?: string) => ({
  kind: 'StatefulSet',
  metadata: { name, namespace: 'home', uid: `uid-of-set-${name}` },
  spec: {
    template: {
      metadata: { annotations: { [operatorAnnotations.configHash]: 'sha256:1' } },
      spec: {
        containers: [{ name: HUB_CONTAINER, image }],
        volumes: [
          ...(beside ? [{ name: 'backup', persistentVolumeClaim: { claimName: beside } }] : []),
          { name: 'config', persistentVolumeClaim: { claimName } },
        ],
      },
    },
  },
});

async function reconcile(situation: Situation) {
  const { spec = {}, failing, error, ran, mounted = 'villa-config' } = situation;
  const villa = aHub({ spec });
  const kept = (name: string, metadata: object) => ({
    ...aClaim,
    metadata: { ...aClaim.metadata, name, ...metadata },
  });
  const objects: Readonly<Record<string, ClusterObject>> = {
    'StatefulSet villa': setOf('villa', mounted, `${IMAGE}:stable`, situation.beside),
    'StatefulSet house': setOf('house', 'house-config', `${IMAGE}:stable`),
    'PersistentVolumeClaim villa-config': kept('villa-config', {
      annotations: ran === undefined ? {} : { [operatorAnnotations.ranVersion]: ran },
    }),
    'PersistentVolumeClaim house-config': kept('house-config', { ownerReferences: [ownedByHouse] }),
    'PersistentVolumeClaim free': kept('free', {}),
    'Secret house-admin': {
      kind: 'Secret',
      metadata: { name: 'house-admin', ownerReferences: [ownedByHouse] },
    },
    'ConfigMap villa-configuration': {
      kind: 'ConfigMap',
      metadata: {
        name: 'villa-configuration',
        annotations: { [operatorAnnotations.restartHash]: situation.restartHash ?? 'sha256:1' },
      },
    },
  };
  const mayFail = (method: string, kind: string, name?: string) => {
    if (!error || failing?.method !== method || failing.kind !== kind) return;
    if (failing.name === undefined || failing.name === name) throw error;
  };
  const applied: StatefulSet[] = [];
  const lookUp = (kind: string, name: string) => objects[`${kind} ${name}`] as never;
  const clock = new ManualClock();
  const given = services({
    clock,
    applier: {
      apply: <T extends ClusterObject>({ kind }: ResourceType, manifest: Manifest) => {
        const object = manifest as ClusterObject;
        mayFail('PATCH', kind, object.metadata.name);
        if (kind === 'StatefulSet') applied.push(manifest as unknown as StatefulSet);
        return Promise.resolve((lookUp(kind, object.metadata.name) ?? object) as T);
      },
      dryRun: () => Promise.resolve(),
      find: async ({ kind }: ResourceType, _: string, name: string) => {
        await Promise.resolve();
        mayFail('GET', kind, name);
        return lookUp(kind, name);
      },
      isOurs: () => true,
      labels: () => ({}),
      matchesLastApplied: () => false,
    },
    cache: {
      get: (kind: string, _: string, name: string) =>
        (kind === 'Hub'
          ? [villa, house].find(({ metadata }) => metadata.name === name)
          : lookUp(kind, name)) as never,
      list: function* (kind: string) {
        if (kind === 'Hub') yield* [house, villa] as never[];
      },
      ofHub: function* () {},
    },
    cluster: {
      request: async <T>({ method, path }: ApiRequest) => {
        await Promise.resolve();
        const [, plural, name] = /\/(\w+)(?:\/([\w-]+))?$/.exec(path.replace(/.*\/home/, '')) ?? [];
        const kind = Object.values(builtin).find((type) => type.plural === plural)?.kind ?? '';
        mayFail(name === undefined ? 'LIST' : method, kind, name);
        return { items: [] } as T;
      },
    },
  });
  const restarts = { recordTemplate: () => undefined, isGoing: () => true, takeReason: () => undefined };
  const rollouts = new Rollouts(given, restarts as unknown as PodRestarts, () => false);
  const outcome = await Steps.none()
    .add(continueOnFailure(given, ensureStorage(given)))
    .add(continueOnFailure(given, ensureStatefulSet(given, rollouts)))
    .run(aHubContext(villa), () => ready('HubRunning', 'It answers.'));
  const [set] = applied;
  const pod = set?.spec.template.spec;
  const came = set && {
    claim: pod?.volumes?.find(({ name }) => name === 'config')?.persistentVolumeClaim?.claimName,
    image: pod?.containers?.find(({ name }) => name === HUB_CONTAINER)?.image,
  };
  return { outcome, came };
}

const policy = new ApiError(403, 'Forbidden', 'admission webhook "policy.example.com" denied the request');
const noWebhook = new ApiError(
  500,
  'InternalError',
  'failed calling webhook "pvc.example.com": connection refused',
);
const unavailable = new ApiError(500, 'InternalError', 'etcdserver: request timed out');
const claimOfHouse = { storage: { existingClaim: 'house-config' } };
const freeClaim = { storage: { existingClaim: 'free' } };
const older = { version: '2026.11.0' };

describe('a claim that is checked', () => {
  test('of another Hub is refused, a free one is mounted, an older version is refused', async () => {
    expect(await reconcile({ spec: claimOfHouse })).toMatchObject({
      outcome: { type: 'Stalled', reason: 'NameConflict' },
      came: undefined,
    });
    expect((await reconcile({ spec: freeClaim })).came).toMatchObject({ claim: 'free' });
    expect(await reconcile({ spec: older, ran: '2026.12.1' })).toMatchObject({
      outcome: { type: 'Stalled', reason: 'DowngradeRefused' },
      came: undefined,
    });
    expect((await reconcile({ spec: older, ran: '2026.10.0' })).came).toEqual({
      claim: 'villa-config',
      image: `${IMAGE}:2026.11.0`,
    });
  });
});

test('a hub that runs on the claim of another one gets no other pod', async () => {
  const { outcome, came } = await reconcile({
    spec: claimOfHouse,
    mounted: 'house-config',
    restartHash: 'sha256:2',
  });
  expect(outcome).toMatchObject({ type: 'Stalled', reason: 'NameConflict' });
  expect(came).toBeUndefined();
});

describe('a failed check of a claim lets nothing pass', () => {
  test.each<[string, Situation, string]>([
    [
      'a policy refuses the change of the claim of another Hub',
      {
        spec: claimOfHouse,
        failing: { method: 'PATCH', kind: 'PersistentVolumeClaim', name: 'house-config' },
        error: policy,
      },
      'Forbidden',
    ],
    [
      'a policy refuses the change of the login of another Hub',
      {
        spec: claimOfHouse,
        failing: { method: 'PATCH', kind: 'Secret', name: 'house-admin' },
        error: policy,
      },
      'Forbidden',
    ],
    [
      'the webhook of claims does not answer',
      { spec: claimOfHouse, failing: { method: 'PATCH', kind: 'PersistentVolumeClaim' }, error: noWebhook },
      'ApiServerError',
    ],
    [
      'the list of pods is refused',
      { spec: freeClaim, failing: { method: 'LIST', kind: 'Pod' }, error: policy },
      'Forbidden',
    ],
    [
      'the list of pods fails',
      { spec: freeClaim, failing: { method: 'LIST', kind: 'Pod' }, error: unavailable },
      'ApiServerError',
    ],
    [
      'the claim cannot be read, and the version is lower than what ran',
      {
        spec: older,
        ran: '2026.12.1',
        failing: { method: 'GET', kind: 'PersistentVolumeClaim' },
        error: unavailable,
      },
      'ApiServerError',
    ],
    [
      'the claim cannot be read, and another one is to be mounted',
      { spec: freeClaim, failing: { method: 'GET', kind: 'PersistentVolumeClaim' }, error: unavailable },
      'ApiServerError',
    ],
    [
      'the list of pods fails, and the claim is mounted beside that of the hub already',
      { spec: freeClaim, beside: 'free', failing: { method: 'LIST', kind: 'Pod' }, error: unavailable },
      'ApiServerError',
    ],
    [
      'the claim cannot be read, and the version is higher: it would migrate what may be another volume',
      {
        spec: { version: '2027.1.0' },
        failing: { method: 'GET', kind: 'PersistentVolumeClaim' },
        error: policy,
      },
      'Forbidden',
    ],
  ])('%s', async (_, situation, reason) => {
    const { outcome, came } = await reconcile(situation);
    expect(came).toBeUndefined();
    expect(outcome).toMatchObject({ reason, message: expect.stringContaining(situation.error!.message) });
    expect(outcome.conditions).toMatchObject({ StorageReady: { status: 'Unknown', reason: 'NotChecked' } });
  });

  test('a hub keeps running unchanged, and gets another configuration', async () => {
    const failing = { method: 'GET', kind: 'PersistentVolumeClaim' } as const;
    const { outcome, came } = await reconcile({ restartHash: 'sha256:2', failing, error: policy });
    expect(came).toEqual({ claim: 'villa-config', image: `${IMAGE}:stable` });
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'Forbidden' });
  });
});
