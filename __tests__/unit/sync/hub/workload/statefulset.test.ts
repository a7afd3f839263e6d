import type { Hub } from '../../../../../operator/kinds';
import type { Manifest } from '../../../../../operator/runtime/apply';
import type { ClusterObject, ResourceType } from '../../../../../operator/runtime/objects';
import { stalled, waiting } from '../../../../../operator/runtime/outcome';
import type { StatefulSet } from '../../../../../operator/sync/hub-pod/owned-objects';
import { PodRestarts } from '../../../../../operator/sync/hub-pod/pod-restarts';
import { Rollouts } from '../../../../../operator/sync/hub/workload/rollouts';
import { ensureStatefulSet } from '../../../../../operator/sync/hub/workload/statefulset';
import { ManualClock } from '../../../manual-clock';
import { aClaim, aHub, aHubContext, services } from '../../fixtures';

/**
 * Makes a cluster with the ConfigMap that a HubConfiguration generates, and records the manifests that were
 * applied to its StatefulSet.
 */
function setup(metadata: Partial<Hub['metadata']> = {}, installed: readonly object[] = []) {
  const clock = new ManualClock();
  const hub = aHub({ metadata });
  const hashes: Record<string, string> = {};
  const applied: Manifest[] = [];
  const dryRuns: Manifest[] = [];
  const find = <T extends ClusterObject>({ kind }: ResourceType) => {
    const configMap = { metadata: { name: 'villa-configuration', annotations: { ...hashes } } };
    const found = kind === 'StatefulSet' ? applied.at(-1) : configMap;
    return Promise.resolve(found as ClusterObject as T | undefined);
  };
  const given = services({
    clock,
    applier: {
      find,
      apply: <T extends ClusterObject>({ kind }: ResourceType, manifest: Manifest) => {
        if (kind === 'StatefulSet') applied.push(manifest);
        return Promise.resolve(manifest as ClusterObject as T);
      },
      dryRun: (_: ResourceType, manifest: Manifest) => Promise.resolve(void dryRuns.push(manifest)),
      matchesLastApplied: (present: ClusterObject, desired: Manifest) =>
        JSON.stringify(present) === JSON.stringify(desired),
      labels: () => ({}),
    },
    cache: {
      get: (kind: string) => (kind === 'Hub' ? hub : { metadata: { name: 'villa-0' } }) as never,
      ofHub: (kind: string) => (kind === 'HubCommunityRepository' ? installed : []) as never,
    },
    cluster: { request: <T>() => Promise.resolve({} as T) },
  });
  const contact = () => Promise.resolve({ missing: 'no token' });
  const restarts = new PodRestarts(given, { contact });
  const rollouts = new Rollouts(given, restarts, () => false);
  const step = ensureStatefulSet(given, rollouts);
  const reconcile = async (options: { readonly dryRun?: boolean } = {}, changed: Partial<Hub> = {}) => {
    const context = { ...aHubContext({ ...hub, ...changed }, options), claim: aClaim };
    return { context, outcome: await step.run(context) };
  };
  const annotations = () =>
    applied.map((set) => (set as unknown as StatefulSet).spec.template.metadata?.annotations);
  const deletePod = () => restarts.restart(hub, 'a test');
  return { clock, hashes, applied, deletePod, dryRuns, annotations, reconcile, step };
}

describe('ensureStatefulSet', () => {
  test('creates nothing before there is a configuration', async () => {
    const { applied, reconcile } = setup();
    const { outcome } = await reconcile();
    expect(outcome).toMatchObject({ type: 'Waiting', reason: 'WaitingForConfiguration' });
    expect(applied).toEqual([]);
  });

  test('passes the StatefulSet on when it has the desired template', async () => {
    const { applied, clock, hashes, reconcile } = setup();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    expect((await reconcile()).context.workload).toBe(applied[0]);
    hashes['hub-operator.dev/restart-hash'] = 'sha256:2';
    expect((await reconcile()).context.workload).toBeUndefined();
    await clock.advance(3_000);
    expect((await reconcile()).context.workload).toBe(applied[1]);
  });

  test('reports a leftover annotation that allows a later downgrade', async () => {
    const { reconcile } = setup({ annotations: { 'hub-operator.dev/allow-downgrade': 'true' } });
    const { context } = await reconcile();
    expect(context.notices).toEqual([expect.stringContaining('allow-downgrade=true is not needed now')]);
  });

  test('creates the StatefulSet with the hashes, so that no second rollout follows', async () => {
    const { annotations, hashes, reconcile } = setup();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    hashes['hub-operator.dev/restart-secrets-hash'] = 'sha256:2';
    const { context } = await reconcile();
    await reconcile();
    expect(context.requeueAfter).toBeUndefined();
    for (const each of annotations())
      expect(each).toMatchObject({
        'hub-operator.dev/config-hash': 'sha256:1',
        'hub-operator.dev/secrets-hash': 'sha256:2',
      });
    expect(new Set(annotations().map((each) => JSON.stringify(each))).size).toBe(1);
    expect(context.status).toEqual({
      configHash: 'sha256:1',
      secretsHash: 'sha256:2',
      restartHeld: null,
    });
  });

  test('applies changed hashes together when they are stable, and reports those of the pod until then', async () => {
    const { annotations, clock, dryRuns, hashes, reconcile } = setup();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    await reconcile();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:3';
    expect((await reconcile()).context.requeueAfter).toBe(3_000);
    await clock.advance(2_000);
    hashes['hub-operator.dev/restart-secrets-hash'] = 'sha256:4';
    const { context } = await reconcile();
    expect(context.requeueAfter).toBe(3_000);
    expect(context.status).toMatchObject({ configHash: 'sha256:1', secretsHash: null });
    // A rejection by the API server is known immediately.
    expect(dryRuns).toHaveLength(2);
    expect(annotations()).toHaveLength(1);
    await clock.advance(3_000);
    const { status } = (await reconcile()).context;
    expect(status).toMatchObject({ configHash: 'sha256:3', secretsHash: 'sha256:4' });
    expect(annotations()).toHaveLength(2);
    expect(annotations()[1]).toMatchObject({
      'hub-operator.dev/config-hash': 'sha256:3',
      'hub-operator.dev/secrets-hash': 'sha256:4',
    });
  });

  test('has the community integrations of the volume in the template, so that the hub loads another version', async () => {
    const status = { target: 'custom_components/hue', digest: 'sha256:5', claimUID: '1' };
    const { annotations, hashes, reconcile } = setup({}, [{ spec: { category: 'integration' }, status }]);
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    await reconcile();
    expect(annotations()).toEqual([
      expect.objectContaining({
        'hub-operator.dev/community-hash': expect.stringMatching(/^sha256:[\da-f]{64}$/) as unknown,
      }),
    ]);
  });

  test('names the restart in an event when the template is applied, not at its creation and not in a dry-run', async () => {
    const { clock, hashes, reconcile } = setup();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    expect((await reconcile()).context.events).toEqual([]);
    const events = async (dryRun: boolean, hash: string) => {
      hashes['hub-operator.dev/restart-hash'] = hash;
      expect((await reconcile({ dryRun })).context.events).toEqual([]);
      await clock.advance(3_000);
      return (await reconcile({ dryRun })).context.events.map(({ reason }) => reason);
    };
    expect(await events(false, 'sha256:2')).toEqual(['HubRestarting']);
    expect((await reconcile()).context.events).toEqual([]);
    expect(await events(true, 'sha256:3')).toEqual([]);
  });

  test('names the changed spec in the event, although status has its generation since the delay', async () => {
    const { clock, hashes, reconcile } = setup();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    await reconcile();
    const edited = (observedGeneration: number) => {
      const { metadata, spec } = aHub({ metadata: { generation: 2 }, spec: { hostNetwork: true } });
      return reconcile({}, { metadata, spec, status: { observedGeneration } });
    };
    expect((await edited(1)).context.events).toEqual([]);
    await clock.advance(3_000);
    expect((await edited(2)).context.events).toEqual([
      {
        type: 'Normal',
        reason: 'HubRestarting',
        message: 'The hub restarts, since its spec changed.',
      },
    ]);
  });

  test('names in an event why the pod was deleted, once', async () => {
    const { deletePod, hashes, reconcile } = setup();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    await reconcile();
    await deletePod();
    expect((await reconcile()).context.events).toEqual([
      { type: 'Normal', reason: 'HubRestarting', message: 'The hub restarts: a test.' },
    ]);
    expect((await reconcile()).context.events).toEqual([]);
  });

  test('reports the reason why the pod template cannot be changed, until it is gone', async () => {
    const { step, reconcile } = setup();
    const context = { ...aHubContext(), claim: aClaim };
    step.present(context, stalled('InvalidSpec', 'no'));
    expect(context.status).toEqual({ restartHeld: 'InvalidSpec' });
    expect((await reconcile()).context.status).toMatchObject({ restartHeld: null });
    // The API server does not answer now, and the restart begins later automatically.
    const later = { ...aHubContext(), claim: aClaim };
    step.present(later, waiting('ApiServerError', 'no', 1));
    expect(later.status).toEqual({});
  });

  test('keeps the content of a hub whose HubConfiguration was deleted', async () => {
    const { annotations, hashes, reconcile } = setup();
    hashes['hub-operator.dev/restart-hash'] = 'sha256:1';
    await reconcile();
    delete hashes['hub-operator.dev/restart-hash'];
    const { outcome, context } = await reconcile();
    expect(outcome).toEqual({});
    expect(context.status).toMatchObject({ configHash: 'sha256:1' });
    expect(annotations().at(-1)).toMatchObject({ 'hub-operator.dev/config-hash': 'sha256:1' });
  });
});
