import type { Hub } from '../../../../../operator/kinds/index';
import type { Manifest } from '../../../../../operator/runtime/apply';
import { Rollouts } from '../../../../../operator/sync/hub/workload/rollout';
import type { StatefulSet } from '../../../../../operator/sync/hub/owned-objects';
import type { Services } from '../../../../../operator/sync/services';

const hub = { metadata: { name: 'villa', namespace: 'home', uid: '1' } } as Hub;
const wish = (text: string) => ({ metadata: { name: text } }) as Manifest;
const set = (text: string) => ({ metadata: { name: text } }) as StatefulSet;

function rollouts() {
  let now = 0;
  const applier = {
    matchesLastApplied: (present: StatefulSet, wanted: Manifest) =>
      present.metadata.name === wanted.metadata.name,
  };
  const services = { applier, cache: { get: () => hub }, clock: { now: () => now } } as unknown as Services;
  return { rollouts: new Rollouts(services), later: (milliseconds: number) => (now += milliseconds) };
}

test('the first one starts at once, and so does what is there already', () => {
  const { rollouts: subject } = rollouts();
  expect(subject.debounceRemaining(hub, undefined, wish('a'))).toBe(0);
  expect(subject.debounceRemaining(hub, set('a'), wish('a'))).toBe(0);
});

test('a change must have stood for 3 s', () => {
  const { rollouts: subject, later } = rollouts();
  expect(subject.debounceRemaining(hub, set('a'), wish('b'))).toBe(3_000);
  later(2_000);
  expect(subject.debounceRemaining(hub, set('a'), wish('b'))).toBe(1_000);
  later(1_000);
  expect(subject.debounceRemaining(hub, set('a'), wish('b'))).toBe(0);
});

test('another change begins anew, and one that is taken back leaves nothing', () => {
  const { rollouts: subject, later } = rollouts();
  subject.debounceRemaining(hub, set('a'), wish('b'));
  later(2_000);
  expect(subject.debounceRemaining(hub, set('a'), wish('c'))).toBe(3_000);
  later(1_000);
  expect(subject.debounceRemaining(hub, set('a'), wish('a'))).toBe(0);
  expect(subject.debounceRemaining(hub, set('a'), wish('c'))).toBe(3_000);
});
