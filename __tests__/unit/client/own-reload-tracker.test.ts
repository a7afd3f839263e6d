import { OwnReloadTracker } from '../../../operator/client/own-reload-tracker';
import { ManualClock } from '../manual-clock';

let clock: ManualClock;
let ledger: OwnReloadTracker;

beforeEach(() => {
  clock = new ManualClock();
  ledger = new OwnReloadTracker(clock);
});

test('takes as many reloads for ours as we caused, of each kind', () => {
  ledger.expect('scene');
  ledger.expect('scene');
  expect([1, 2, 3].map(() => ledger.consume('scene'))).toEqual([true, true, false]);
  expect(ledger.consume('script')).toBe(false);
});

test('knows the automations that we wrote from those of others', () => {
  ledger.expect('automation', 'ours');
  ledger.expect('automation');
  expect(ledger.consume('automation', 'theirs')).toBe(false);
  expect(ledger.consume('automation', 'ours')).toBe(true);
  expect(ledger.consume('automation')).toBe(true);
});

test('does not wait for one that was refused', () => {
  ledger.expect('scene');
  ledger.cancel('scene');
  expect(ledger.consume('scene')).toBe(false);
  ledger.cancel('scene');
  ledger.expect('scene');
  expect(ledger.consume('scene')).toBe(true);
});

test('does not take a later one of somebody else for one that never came', async () => {
  ledger.expect('scene');
  await clock.advance(31_000);
  expect(ledger.consume('scene')).toBe(false);
});

test('begins anew after announcements were missed', () => {
  ledger.expect('scene');
  ledger.reset();
  expect(ledger.consume('scene')).toBe(false);
});
