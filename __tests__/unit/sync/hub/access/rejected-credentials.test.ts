import { LoginFailed, NoPasswordLogin } from '../../../../../operator/client/connection/errors';
import { RejectedCredentials } from '../../../../../operator/sync/hub/access/credentials';
import { aHub } from '../../fixtures';

const villa = aHub();
const cabin = aHub({ metadata: { name: 'cabin', uid: 'uid-of-cabin' } });
const hubs = [villa, cabin];
let podUid = 'a';
const cache = {
  get: (kind: string, _namespace: string, name: string) =>
    (kind === 'Pod'
      ? { metadata: { name, uid: podUid } }
      : hubs.find(({ metadata }) => metadata.name === name)) as never,
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

  test('finds them while the hub has the pod whose configuration lacks a login by password', () => {
    const rejected = new RejectedCredentials(cache);
    podUid = 'a';
    // The status has the configuration of the next pod while the former one still answers.
    const next = (bootstrap: object = {}) => aHub({ status: { configHash: 'next', bootstrap } });
    const stuck = rejected.record(next(), 'digest', new NoPasswordLogin());
    expect(stuck.message).toMatch(/^the hub has no login by password, .*homeassistant\.auth_providers/);
    expect(stuck.message).not.toContain('Secret');
    expect(rejected.find(villa, 'digest')).toEqual(stuck);
    expect(rejected.find(next(), 'another digest')).toBeUndefined();
    const stored = { rejectedCredentials: rejected.digest(next())! };
    const restarted = new RejectedCredentials(cache);
    expect(restarted.find(next(stored), 'digest')).toEqual(stuck);
    podUid = 'b';
    expect(rejected.find(next(), 'digest')).toBeUndefined();
    expect(restarted.find(next(stored), 'digest')).toBeUndefined();
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
