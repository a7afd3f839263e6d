import { ReloadLedger } from '../../../operator/client/own-reload-tracker';
import { ManualClock } from './manual-clock';

let clock: ManualClock;
let ledger: ReloadLedger;

beforeEach(() => {
  clock = new ManualClock();
  ledger = new ReloadLedger(clock);
});

test('takes as many reloads for ours as we caused, of each kind', () => {
  ledger.expect('scene');
  ledger.expect('scene');
  expect([1, 2, 3].map(() => ledger.settle('scene'))).toEqual([true, true, false]);
  expect(ledger.settle('script')).toBe(false);
});

test('knows the automations that we wrote from those of others', () => {
  ledger.expect('automation', 'ours');
  ledger.expect('automation');
  expect(ledger.settle('automation', 'theirs')).toBe(false);
  expect(ledger.settle('automation', 'ours')).toBe(true);
  expect(ledger.settle('automation')).toBe(true);
});

test('does not wait for one that was refused', () => {
  ledger.expect('scene');
  ledger.cancel('scene');
  expect(ledger.settle('scene')).toBe(false);
  ledger.cancel('scene');
  ledger.expect('scene');
  expect(ledger.settle('scene')).toBe(true);
});

test('does not take a later one of somebody else for one that never came', async () => {
  ledger.expect('scene');
  await clock.advance(31_000);
  expect(ledger.settle('scene')).toBe(false);
});

test('begins anew after announcements were missed', () => {
  ledger.expect('scene');
  ledger.reset();
  expect(ledger.settle('scene')).toBe(false);
});
