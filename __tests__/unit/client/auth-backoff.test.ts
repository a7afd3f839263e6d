import { TokenRejected } from '../../../operator/client/errors';
import { TokenGate } from '../../../operator/client/auth-backoff';
import { ManualClock } from './manual-clock';

const MINUTE = 60_000;

describe('TokenGate', () => {
  let clock: ManualClock;
  let gate: TokenGate;
  const rejection = new TokenRejected('revoked');

  beforeEach(() => {
    clock = new ManualClock();
    gate = new TokenGate(clock);
  });

  test('lets everything pass until a rejection', () => {
    for (let use = 0; use < 100; use++) expect(() => gate.pass()).not.toThrow();
  });

  test('lets one use pass after 5 minutes, then after 10', async () => {
    gate.rejected(rejection);
    await clock.advance(5 * MINUTE - 1);
    expect(() => gate.pass()).toThrow('revoked');
    await clock.advance(1);
    gate.pass();
    expect(() => gate.pass()).toThrow(TokenRejected);
    gate.rejected(rejection);
    expect(gate.opensInMs).toBe(10 * MINUTE);
  });

  test('counts uses that were rejected together once', () => {
    for (let use = 0; use < 4; use++) gate.pass();
    for (let use = 0; use < 4; use++) gate.rejected(rejection);
    expect(gate.opensInMs).toBe(5 * MINUTE);
  });

  test('waits six hours at most', async () => {
    for (let times = 0; times < 30; times++) {
      await clock.advance(gate.opensInMs);
      gate.pass();
      gate.rejected(rejection);
    }
    expect(gate.opensInMs).toBe(6 * 60 * MINUTE);
  });

  test('is open again once the token is accepted', async () => {
    gate.rejected(rejection);
    await clock.advance(5 * MINUTE);
    gate.pass();
    gate.accepted();
    expect(() => gate.pass()).not.toThrow();
    expect(() => gate.pass()).not.toThrow();
  });
});
