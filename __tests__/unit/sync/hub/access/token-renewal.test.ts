import { renewalDue } from '../../../../../operator/sync/hub/access/token-renewal';

const DAY = 24 * 3_600_000;
const MADE = Date.UTC(2026, 0, 1);

const token = (days: number) => {
  const claims = { iss: 'x', iat: MADE / 1_000, exp: (MADE + days * DAY) / 1_000 };
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
  ])('says of a token of %s days, after %s days: %s', (days, after, due) =>
    expect(renewalDue(token(days), MADE + after * DAY)).toBe(due),
  );

  test.each(['', 'by-hand', 'a.b.c', `h.${Buffer.from('{"iss":"x"}').toString('base64url')}.s`])(
    'is false for a token that does not say when it expires (%s)',
    (words) => expect(renewalDue(words, MADE)).toBe(false),
  );
});
