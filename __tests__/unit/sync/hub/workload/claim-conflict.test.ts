import type { Hub } from '../../../../../operator/kinds';
import type { CustomResource } from '../../../../../operator/kinds/resource';
import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { ClaimConflicts } from '../../../../../operator/sync/hub/workload/claim-conflict';
import { aHub, services } from '../../fixtures';

const a = aHub({ metadata: { name: 'a', uid: '1', creationTimestamp: '2026-01-01T00:00:00Z' } });
const b = aHub({
  metadata: { name: 'b', uid: '2', creationTimestamp: '2026-01-02T00:00:00Z' },
  spec: { storage: { existingClaim: 'a-config' } },
});
const podSpec = (claimName: string, name = 'config') => ({
  volumes: [{ name, persistentVolumeClaim: { claimName } }],
});
const setOf = (hub: Hub, claim: string, volume?: string) => ({
  kind: 'StatefulSet',
  metadata: { name: hub.metadata.name },
  spec: { template: { spec: podSpec(claim, volume) } },
});
const labels = (hub: string) => ({
  'app.kubernetes.io/managed-by': 'hub-operator',
  'hub-operator.dev/owner': `Hub.${hub}`,
});
const podOf = (name: string, claim: string) => ({
  kind: 'Pod',
  metadata: { name: `${name}-0`, labels: labels(name) },
  spec: podSpec(claim),
});

/** The start of each requested page of pods. */
const pages: number[] = [];
beforeEach(() => {
  pages.length = 0;
});

/** Makes a cluster with these objects in addition to the Hubs. Only the API server has the pods. */
function conflicts(hubs: readonly Hub[], ...given: (ClusterObject | readonly ClusterObject[])[]) {
  const list = function* <T extends ClusterObject>(kind: string) {
    yield* [...hubs, ...given.flat()].filter((object) => object.kind === kind) as T[];
  };
  const get = <T extends ClusterObject>(kind: string, _: string, name: string) =>
    [...list<T>(kind)].find(({ metadata }) => metadata.name === name);
  const parts = {
    cache: { get, list },
    applier: { labels: ({ metadata }: CustomResource) => labels(metadata.name) },
    cluster: {
      // The query excludes pods that have ended, since they write no more.
      request: ({ query = {} }: ApiRequest) => {
        expect(query).toMatchObject({ fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' });
        const from = Number(query['continue'] ?? 0);
        const to = from + Number(query['limit']);
        pages.push(from);
        const pods = [...list('Pod')];
        const next = to < pods.length ? { continue: String(to) } : {};
        return Promise.resolve({ items: pods.slice(from, to), metadata: next } as never);
      },
    },
  };
  return new ClaimConflicts(services(parts));
}

describe('ClaimConflicts', () => {
  test('give a claim to which two Hubs refer to the older Hub, in any order of reconciles', async () => {
    for (const order of [
      [a, b],
      [b, a],
    ]) {
      const subject = conflicts([a, b]);
      const found = new Map<Hub, unknown>();
      for (const hub of order) found.set(hub, await subject.find(hub));
      expect(found.get(a)).toBeUndefined();
      expect(found.get(b)).toMatchObject({
        type: 'Stalled',
        reason: 'NameConflict',
        message: expect.stringContaining('PersistentVolumeClaim a-config serves the Hub a'),
        after: 30_000,
      });
    }
  });

  test('leave a claim to the Hub whose StatefulSet uses it, although the other one is older', async () => {
    const subject = conflicts([a, b], setOf(b, 'a-config'));
    expect(await subject.find(b)).toBeUndefined();
    expect(await subject.find(a)).toMatchObject({ reason: 'NameConflict' });
  });

  test('leave a claim to the Hub that was given it, although an older one appears before its StatefulSet', async () => {
    const hubs = [b];
    const subject = conflicts(hubs);
    expect(await subject.find(b)).toBeUndefined();
    hubs.push(a);
    expect(await subject.find(a)).toMatchObject({ reason: 'NameConflict' });
    expect(await subject.find(b)).toBeUndefined();
  });

  test('count a claim as used while a StatefulSet still has it, although the spec already names another', async () => {
    const moved = aHub({ metadata: a.metadata, spec: { storage: { existingClaim: 'other' } } });
    expect(await conflicts([moved, b], setOf(moved, 'a-config')).find(b)).toMatchObject({
      reason: 'NameConflict',
    });
    expect(await conflicts([moved, b], setOf(moved, 'other')).find(b)).toBeUndefined();
  });

  test('wait for the pod of a Hub that was deleted', async () => {
    const subject = conflicts([b], podOf('a', 'a-config'));
    expect(await subject.find(b)).toMatchObject({ type: 'Waiting', reason: 'NameConflict' });
    expect(await conflicts([b], podOf('b', 'a-config')).find(b)).toBeUndefined();
  });

  test('name the pod of another workload that uses the claim, also with the name of the Hub as its instance', async () => {
    const stranger = {
      ...podOf('b', 'a-config'),
      metadata: { name: 'old-home-0', labels: { 'app.kubernetes.io/instance': 'b' } },
    };
    expect(await conflicts([b], stranger).find(b)).toMatchObject({
      type: 'Stalled',
      reason: 'NameConflict',
      message: expect.stringContaining(
        'The pod old-home-0 uses the PersistentVolumeClaim a-config',
      ) as unknown,
    });
    expect(
      await conflicts([b], { ...stranger, spec: podSpec('other') } as ClusterObject).find(b),
    ).toBeUndefined();
    expect(await conflicts([b], stranger, setOf(b, 'a-config')).find(b)).toBeUndefined();
  });

  test('do not treat a Hub that mounts a claim beside its own as the one whose hub runs there', async () => {
    const viewer = aHub({ metadata: { name: 'c', uid: '3', creationTimestamp: '2025-01-01T00:00:00Z' } });
    const sets = [setOf(a, 'a-config'), setOf(viewer, 'a-config', 'backup')];
    expect(await conflicts([a, viewer], sets).find(a)).toBeUndefined();
    const mover = { ...viewer, spec: b.spec };
    const subject = conflicts([a, mover], sets);
    expect(await subject.find(mover)).toMatchObject({
      reason: 'NameConflict',
      message: expect.stringContaining('serves the Hub a'),
    });
    expect(await conflicts([mover], sets, podOf('a', 'a-config')).find(mover)).toMatchObject({
      message: expect.stringContaining('The pod a-0'),
    });
  });

  test('find the pod in a namespace with any number of pods, and read no more pages than needed', async () => {
    const others = Array.from({ length: 600 }, (_, index) => podOf(`other-${index}`, 'other'));
    expect(await conflicts([b], others).find(b)).toBeUndefined();
    expect(pages.splice(0)).toEqual([0, 250, 500]);
    others.splice(300, 0, podOf('a', 'a-config'));
    expect(await conflicts([b], others).find(b)).toMatchObject({ reason: 'NameConflict' });
    expect(pages).toEqual([0, 250]);
  });

  test('give a claim to one of two Hubs that ask at the same time, while its pods are listed', async () => {
    const two = aHub({ metadata: { name: 'c', uid: '3' }, spec: b.spec });
    const subject = conflicts([b, two]);
    const found = await Promise.all([subject.find(b), subject.find(two)]);
    expect(found.filter((outcome) => outcome === undefined)).toHaveLength(1);
  });

  test('take a claim back from a Hub that waits for a pod: an older one gets it when the pod has ended', async () => {
    const hubs = [b];
    const pods: ClusterObject[] = [podOf('former', 'a-config')];
    const subject = conflicts(hubs, pods);
    expect(await subject.find(b)).toMatchObject({ reason: 'NameConflict' });
    hubs.push(a);
    pods.pop();
    expect(await subject.find(a)).toBeUndefined();
    expect(await subject.find(b)).toMatchObject({ reason: 'NameConflict' });
  });

  test('do not count an external Hub', async () => {
    const external = { url: 'http://h', tokenSecretRef: { name: 't', key: 'token' } };
    const elsewhere = aHub({ metadata: a.metadata, spec: { external } });
    expect(await conflicts([elsewhere, b]).find(b)).toBeUndefined();
  });
});
