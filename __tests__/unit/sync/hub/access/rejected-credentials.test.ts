import { LoginFailed } from '../../../../../operator/client/connection/errors';
import { RejectedCredentials } from '../../../../../operator/sync/hub/access/credentials';
import { aHub } from '../../fixtures';

const villa = aHub();
const cabin = aHub({ metadata: { name: 'cabin', uid: 'uid-of-cabin' } });
const hubs = [villa, cabin];
const cache = {
  get: (_kind: string, _namespace: string, name: string) =>
    hubs.find(({ metadata }) => metadata.name === name) as never,
};

describe('RejectedCredentials', () => {
  test('finds the credentials that a hub rejected, for that hub and while they are unchanged', () => {
    const rejected = new RejectedCredentials(cache);
    const stuck = rejected.record(villa, 'digest', new LoginFailed('no'));
    expect(stuck).toMatchObject({
      reason: 'LoginFailed',
      message: expect.stringMatching(/^no: correct the Secret/),
    });
    expect(rejected.find(villa, 'digest')).toEqual(stuck);
    expect(rejected.find(villa, 'another digest')).toBeUndefined();
    expect(rejected.find(cabin, 'digest')).toBeUndefined();
    rejected.clear(villa);
    expect(rejected.find(villa, 'digest')).toBeUndefined();
    expect(rejected.digest(villa)).toBeNull();
  });

  test('finds them in the status after a restart, until the hub accepts credentials', () => {
    const hub = aHub({ status: { bootstrap: { rejectedCredentials: 'digest' } } });
    const rejected = new RejectedCredentials(cache);
    expect(rejected.find(hub, 'digest')).toMatchObject({ reason: 'LoginFailed' });
    expect(rejected.digest(hub)).toBe('digest');
    rejected.clear(hub);
    expect(rejected.find(hub, 'digest')).toBeUndefined();
    expect(rejected.digest(hub)).toBeNull();
  });
});
