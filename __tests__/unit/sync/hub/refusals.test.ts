import { LoginFailed } from '../../../../operator/client/errors';
import { Refusals } from '../../../../operator/sync/hub/refusals';

const credentials = { username: 'ada', password: 'wrong' };

describe('credentials that a hub has refused', () => {
  it('are known as long as they are the same, for that hub', () => {
    const refusals = new Refusals();
    const stuck = refusals.remember('hub-1', credentials, new LoginFailed('no'));
    expect(stuck).toMatchObject({
      reason: 'LoginFailed',
      message: expect.stringMatching(/^no: correct the Secret/),
    });
    expect(refusals.of('hub-1', { ...credentials })).toEqual(stuck);
    expect(refusals.of('hub-1', { ...credentials, password: 'right' })).toBeUndefined();
    expect(refusals.of('hub-1', { ...credentials, username: 'eve' })).toBeUndefined();
    expect(refusals.of('hub-2', credentials)).toBeUndefined();
    refusals.forget('hub-1');
    expect(refusals.of('hub-1', credentials)).toBeUndefined();
  });
});
