import type { Hub } from '../../../../../operator/kinds';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { ClaimConflicts } from '../../../../../operator/sync/hub/workload/claim-conflict';
import { aHub, services } from '../../fixtures';

const a = aHub({ metadata: { name: 'a', uid: '1', creationTimestamp: '2026-01-01T00:00:00Z' } });
const b = aHub({
  metadata: { name: 'b', uid: '2', creationTimestamp: '2026-01-02T00:00:00Z' },
  spec: { storage: { existingClaim: 'a-config' } },
});
const podSpec = (claimName: string) => ({ volumes: [{ persistentVolumeClaim: { claimName } }] });
const setOf = (hub: Hub, claim: string) => ({
  kind: 'StatefulSet',
  metadata: { name: hub.metadata.name },
  spec: { template: { spec: podSpec(claim) } },
});
const podOf = (name: string, claim: string) => ({
  kind: 'Pod',
  metadata: { name: `${name}-0`, labels: { 'app.kubernetes.io/instance': name } },
  spec: podSpec(claim),
});

/** A cluster with these objects besides the Hubs. */
function conflicts(hubs: readonly Hub[], ...objects: ClusterObject[]) {
  const list = function* <T extends ClusterObject>(kind: string) {
    yield* [...hubs, ...objects].filter((object) => object.kind === kind) as T[];
  };
  const get = <T extends ClusterObject>(kind: string, _: string, name: string) =>
    [...list<T>(kind)].find(({ metadata }) => metadata.name === name);
  return new ClaimConflicts(services({ cache: { get, list } }));
}

describe('ClaimConflicts', () => {
  test('give a claim that two Hubs name to the older Hub, whichever is reconciled first', () => {
    for (const order of [
      [a, b],
      [b, a],
    ]) {
      const subject = conflicts([a, b]);
      const found = new Map(order.map((hub) => [hub, subject.find(hub)]));
      expect(found.get(a)).toBeUndefined();
      expect(found.get(b)).toMatchObject({
        type: 'Stalled',
        reason: 'NameConflict',
        message: expect.stringContaining('PersistentVolumeClaim a-config serves the Hub a'),
        after: 30_000,
      });
    }
  });

  test('leave a claim to the Hub whose StatefulSet uses it, although the other one is older', () => {
    const subject = conflicts([a, b], setOf(b, 'a-config'));
    expect(subject.find(b)).toBeUndefined();
    expect(subject.find(a)).toMatchObject({ reason: 'NameConflict' });
  });

  test('leave a claim to the Hub that was given it, although an older one appears before its StatefulSet', () => {
    const hubs = [b];
    const subject = conflicts(hubs);
    expect(subject.find(b)).toBeUndefined();
    hubs.push(a);
    expect(subject.find(a)).toMatchObject({ reason: 'NameConflict' });
    expect(subject.find(b)).toBeUndefined();
  });

  test('count a claim as used while a StatefulSet still has it, although the spec names another by now', () => {
    const moved = aHub({ metadata: a.metadata, spec: { storage: { existingClaim: 'other' } } });
    expect(conflicts([moved, b], setOf(moved, 'a-config')).find(b)).toMatchObject({ reason: 'NameConflict' });
    expect(conflicts([moved, b], setOf(moved, 'other')).find(b)).toBeUndefined();
  });

  test('wait for the pod of a Hub that was deleted', () => {
    const subject = conflicts([b], podOf('a', 'a-config'));
    expect(subject.find(b)).toMatchObject({ type: 'Waiting', reason: 'NameConflict' });
    expect(conflicts([b], podOf('b', 'a-config')).find(b)).toBeUndefined();
  });

  test('do not count an external Hub', () => {
    const external = { url: 'http://h', tokenSecretRef: { name: 't', key: 'token' } };
    const elsewhere = aHub({ metadata: a.metadata, spec: { external } });
    expect(conflicts([elsewhere, b]).find(b)).toBeUndefined();
  });
});
