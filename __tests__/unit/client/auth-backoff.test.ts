import { TokenRejected } from '../../../operator/client/errors';
import { AuthBackoff } from '../../../operator/client/auth-backoff';
import { ManualClock } from '../manual-clock';

const MINUTE = 60_000;

describe('AuthBackoff', () => {
  let clock: ManualClock;
  let gate: AuthBackoff;
  const rejection = new TokenRejected('revoked');

  beforeEach(() => {
    clock = new ManualClock();
    gate = new AuthBackoff(clock);
  });

  test('lets everything pass until a rejection', () => {
    for (let use = 0; use < 100; use++) expect(() => gate.admit()).not.toThrow();
  });

  test('lets one use pass after 5 minutes, then after 10', async () => {
    gate.recordRejection(rejection);
    await clock.advance(5 * MINUTE - 1);
    expect(() => gate.admit()).toThrow('revoked');
    await clock.advance(1);
    gate.admit();
    expect(() => gate.admit()).toThrow(TokenRejected);
    gate.recordRejection(rejection);
    expect(gate.remaining).toBe(10 * MINUTE);
  });

  test('counts uses that were rejected together once', () => {
    for (let use = 0; use < 4; use++) gate.admit();
    for (let use = 0; use < 4; use++) gate.recordRejection(rejection);
    expect(gate.remaining).toBe(5 * MINUTE);
  });

  test('waits six hours at most', async () => {
    for (let times = 0; times < 30; times++) {
      await clock.advance(gate.remaining);
      gate.admit();
      gate.recordRejection(rejection);
    }
    expect(gate.remaining).toBe(6 * 60 * MINUTE);
  });

  test('is open again once the token is accepted', async () => {
    gate.recordRejection(rejection);
    await clock.advance(5 * MINUTE);
    gate.admit();
    gate.recordSuccess();
    expect(() => gate.admit()).not.toThrow();
    expect(() => gate.admit()).not.toThrow();
  });
});
