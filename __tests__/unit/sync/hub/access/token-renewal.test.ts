import { hub as definition } from '../../../../../operator/kinds';
import { defaulted } from '../../../../../operator/kinds/schema';
import { ManualClock } from '../../../manual-clock';
import { aHub, services } from '../../fixtures';
import { renewalDue, TokenRenewal } from '../../../../../operator/sync/hub-connection/token';
import { hubClient } from '../../../stand-in-hub/hub-client';

const DAY = 24 * 3_600_000;
const MADE = Date.UTC(2026, 0, 1);

const token = (days: number, iss = 'x') => {
  const claims = { iss, iat: MADE / 1_000, exp: (MADE + days * DAY) / 1_000 };
  return `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
};

describe('renewalDue', () => {
  test.each([
    [3650, 3619, false],
    [3650, 3621, true],
    [10, 8.9, false],
    [10, 9.1, true],
    [1, 0.89, false],
    [1, 0.91, true],
    [1, 2, true],
    [1, 0, false],
  ])('returns for a token of %s days, after %s days: %s', (days, after, due) =>
    expect(renewalDue(token(days), MADE + after * DAY)).toBe(due),
  );

  test.each(['', 'by-hand', 'a.b.c', `h.${Buffer.from('{"iss":"x"}').toString('base64url')}.s`])(
    'is false for a token without an expiry date (%s)',
    (words) => expect(renewalDue(words, MADE)).toBe(false),
  );
});

describe('TokenRenewal', () => {
  async function setup(isOurs = true) {
    const clock = new ManualClock();
    await clock.advance(Math.max(0, MADE + 9.5 * DAY - clock.now()));
    const [old, renewed] = [token(10, 'old'), token(3650, 'renewed')];
    const records = [
      ['old', 'Hub Operator home/villa 2026-01-01T00:00:00.000Z 0a0b0c0d'],
      ['renewed', 'Hub Operator home/villa 2026-01-10T12:00:00.000Z 0a0b0c0d'],
      ['former', 'Hub Operator home/cabin 2025-01-01T00:00:00.000Z 0a0b0c0d'],
      ['person', 'Phone of Hub Operator'],
      ['by hand', 'Hub Operator home/villa'],
      ['of another form', 'Hub Operator of the cottage 2025-01-01T00:00:00.000Z 0a0b0c0d'],
    ].map(([id, client_name]) => ({ id, client_name, type: 'long_lived_access_token' }));
    const revoked: unknown[] = [];
    const connection = {
      command: (type: string, { refresh_token_id: id }: { refresh_token_id?: string } = {}) => {
        if (type === 'auth/delete_refresh_token') revoked.push(id);
        if (type === 'auth/long_lived_access_token') issued++;
        return Promise.resolve(type === 'auth/refresh_tokens' ? records : renewed);
      },
    };
    let issued = 0;
    const secret = { metadata: { name: 'villa-api-token' } };
    const given = services({
      clock,
      cache: { get: <T>() => secret as T, list: function* () {} },
      applier: {
        isOurs: () => isOurs,
        labels: () => ({}),
        dryRun: () => Promise.resolve(),
        apply: <T>() => Promise.resolve(secret as T),
      },
    });
    const hub = aHub({ status: { bootstrap: { state: 'Done' } } });
    const spec = defaulted(definition.spec, hub.spec);
    const client = hubClient({ connection });
    /** Starts a process of the operator. Returns its reconcile of a hub that has accepted this token. */
    const start = () => {
      const renewal = new TokenRenewal(given);
      return async (accepted: string) => {
        await renewal.revokeOthers(hub, spec, client, accepted);
        await renewal.ensureFresh(hub, spec, client, accepted);
      };
    };
    return { records, revoked, old, renewed, start, issued: () => issued };
  }

  test('revokes the tokens of earlier Hubs on the volume together with the superseded one, and no user’s tokens', async () => {
    const { records, revoked, old, renewed, start, issued } = await setup();
    const [fresh] = records.splice(1, 1);
    const reconcile = start();
    await reconcile(old);
    await reconcile(old);
    expect(revoked).toEqual(['former']);
    expect(issued()).toBe(1);
    records.push(fresh!);
    await reconcile(renewed);
    await reconcile(renewed);
    expect(revoked).toEqual(['former', 'old', 'former']);
    expect(issued()).toBe(1);
  });

  test('revokes the former token although the process ended before the first use of the new one', async () => {
    const { revoked, renewed, start } = await setup();
    const reconcile = start();
    await reconcile(renewed);
    expect(revoked).toEqual(['old', 'former']);
  });

  test('revokes nothing because of a token that a person has stored', async () => {
    const { revoked, renewed, start } = await setup(false);
    await start()(renewed);
    expect(revoked).toEqual([]);
  });
});
