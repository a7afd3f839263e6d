import { AuthBackoff } from '../../../../operator/client/connection/auth-backoff';
import { TokenRejected } from '../../../../operator/client/connection/errors';
import { ManualClock } from '../../manual-clock';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const rejection = new TokenRejected('revoked');

let clock: ManualClock;
let isDown: boolean;
let backoff: AuthBackoff;

beforeEach(() => {
  clock = new ManualClock();
  isDown = false;
  backoff = new AuthBackoff(clock, () => Promise.resolve(isDown));
});

async function restartHub(): Promise<void> {
  isDown = true;
  await clock.advance(20_000);
  isDown = false;
}

/**
 * Uses the rejected token every ten seconds, as hundreds of resources would. Resolves with the number of
 * failed logins.
 */
async function failedLogins(milliseconds: number, restarts: (second: number) => boolean): Promise<number> {
  let failed = 0;
  for (let second = 0; second < milliseconds / 1_000; second += 10) {
    isDown = restarts(second);
    try {
      backoff.admit();
      if (isDown) backoff.recordNoAnswer();
      else {
        failed += 1;
        backoff.recordRejection(rejection);
      }
    } catch (error) {
      expect(error).toBeInstanceOf(TokenRejected);
    }
    await clock.advance(10_000);
  }
  return failed;
}

describe('AuthBackoff', () => {
  test('admits all uses until a rejection', () => {
    for (let use = 0; use < 100; use++) expect(() => backoff.admit()).not.toThrow();
  });

  test('costs one failed login in 24 hours for a revoked token, while the hub runs', async () => {
    expect(await failedLogins(24 * HOUR, () => false)).toBe(1);
  });

  test('costs one more failed login after a restart of the hub', async () => {
    expect(await failedLogins(HOUR, (second) => second >= 600 && second < 630)).toBe(2);
  });

  test('costs 10 failed logins in 24 hours while the hub restarts every minute, each after a restart', async () => {
    expect(await failedLogins(24 * HOUR, (second) => second % 60 < 20)).toBe(10);
  });

  test('admits a single use after a restart until it is answered', async () => {
    backoff.recordRejection(rejection);
    await restartHub();
    await clock.advance(5 * MINUTE);
    backoff.admit();
    expect(() => backoff.admit()).toThrow('revoked');
    backoff.recordNoAnswer();
    expect(() => backoff.admit()).not.toThrow();
  });

  test('counts uses that were rejected together once', async () => {
    for (let use = 0; use < 4; use++) backoff.recordRejection(rejection);
    await restartHub();
    await clock.advance(5 * MINUTE);
    expect(() => backoff.admit()).not.toThrow();
  });

  test('admits all uses again once the token is accepted', async () => {
    backoff.recordRejection(rejection);
    await restartHub();
    await clock.advance(5 * MINUTE);
    backoff.admit();
    backoff.recordSuccess();
    for (let use = 0; use < 4; use++) expect(() => backoff.admit()).not.toThrow();
    expect(clock.pendingTimers).toBe(0);
  });

  test('sends no request to the hub after it was closed', () => {
    backoff.recordRejection(rejection);
    backoff.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
