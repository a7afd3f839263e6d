import { LoginFailed } from '../../../../../operator/client/errors';
import type { Hub } from '../../../../../operator/kinds/index';
import { RejectedCredentials } from '../../../../../operator/sync/hub/access/rejected-credentials';

const hub = (name: string) => ({ metadata: { namespace: 'home', name, uid: name } }) as Hub;
const credentials = { username: 'ada', password: 'wrong' };

describe('RejectedCredentials', () => {
  test('finds the credentials that a hub rejected, for that hub and while they are unchanged', () => {
    const refusals = new RejectedCredentials({ get: (_kind, _namespace, name) => hub(name) as never });
    const stuck = refusals.record(hub('hub-1'), credentials, new LoginFailed('no'));
    expect(stuck).toMatchObject({
      reason: 'LoginFailed',
      message: expect.stringMatching(/^no: correct the Secret/),
    });
    expect(refusals.find(hub('hub-1'), { ...credentials })).toEqual(stuck);
    expect(refusals.find(hub('hub-1'), { ...credentials, password: 'right' })).toBeUndefined();
    expect(refusals.find(hub('hub-1'), { ...credentials, username: 'eve' })).toBeUndefined();
    expect(refusals.find(hub('hub-2'), credentials)).toBeUndefined();
    refusals.clear(hub('hub-1'));
    expect(refusals.find(hub('hub-1'), credentials)).toBeUndefined();
  });
});
