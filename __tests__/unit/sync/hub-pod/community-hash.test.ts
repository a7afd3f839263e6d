import type { HubCommunityRepository } from '../../../../operator/kinds';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import { communityHash } from '../../../../operator/sync/hub-pod/rollout-hashes';
import { resource } from '../../resource';
import { aHub, services } from '../fixtures';

type Spec = HubCommunityRepository['spec'];
type Status = NonNullable<HubCommunityRepository['status']>;

/** Returns the hash of a hub with one repository, or with several resources for it. */
function hashOf(status: Status, category: Spec['category'] = 'integration', names = ['shelf']) {
  const spec: Spec = { hubRef: { name: 'villa' }, category, repository: 'o/n', ref: 'v1' };
  const ofHub = function* <T extends ClusterObject>() {
    for (const name of names) yield resource<Spec, Status>(name, spec, { status }) as unknown as T;
  };
  return communityHash(services({ cache: { ofHub } }), aHub());
}

describe('communityHash', () => {
  const status = { target: 'custom_components/shelf', digest: 'sha256:1', claimUID: 'first' };

  test('differs for other files, and for equal files on another volume or installed again', () => {
    const hashes = [
      status,
      { ...status, digest: 'sha256:2' },
      { ...status, claimUID: 'second' },
      { ...status, installationID: '1' },
      { ...status, installationID: '2' },
    ].map((each) => hashOf(each));
    expect(new Set(hashes).size).toBe(5);
    expect(hashOf({ ...status })).toBe(hashes[0]);
  });

  test('is the same while a resource and its successor have the installation', () => {
    expect(hashOf(status, 'integration', ['shelf', 'renamed'])).toBe(hashOf(status));
  });

  test('is absent for a hub without community integrations', () => {
    expect(hashOf(status, 'theme')).toBeUndefined();
    expect(hashOf({ target: 'custom_components/shelf' })).toBeUndefined();
  });
});
