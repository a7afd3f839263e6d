import type { Manifest } from '../../../../../operator/runtime/apply';
import type { StatefulSet } from '../../../../../operator/sync/hub-pod/owned-objects';
import { RolloutDebounce } from '../../../../../operator/sync/hub/workload/rollouts';
import { ManualClock } from '../../../manual-clock';
import { aHub, services } from '../../fixtures';

const hub = aHub();
const template = (name: string): Manifest => ({ metadata: { name } });
const set = (name: string): StatefulSet => ({ metadata: { name }, spec: { template: {} } });

/** Returns the debounce of a cluster in which a StatefulSet has the template of its name. */
function debounce(isLoading = () => false) {
  const clock = new ManualClock();
  const matchesLastApplied = (present: { metadata: { name: string } }, desired: Manifest) =>
    present.metadata.name === desired.metadata.name;
  const given = services({ clock, applier: { matchesLastApplied }, cache: { get: <T>() => hub as T } });
  return { clock, debounce: new RolloutDebounce(given, isLoading) };
}

describe('RolloutDebounce', () => {
  test('applies the first template immediately, and the one that is applied already', () => {
    const { debounce: subject } = debounce();
    expect(subject.remaining(hub, undefined, template('a'))).toBeUndefined();
    expect(subject.remaining(hub, set('a'), template('a'))).toBeUndefined();
  });

  test('applies a changed template after it has been stable for 3 s', async () => {
    const { debounce: subject, clock } = debounce();
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(3_000);
    await clock.advance(2_000);
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(1_000);
    await clock.advance(1_000);
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(0);
  });

  test('waits the full time for another change, and forgets one that is taken back', async () => {
    const { debounce: subject, clock } = debounce();
    subject.remaining(hub, set('a'), template('b'));
    await clock.advance(2_000);
    expect(subject.remaining(hub, set('a'), template('c'))).toBe(3_000);
    await clock.advance(1_000);
    expect(subject.remaining(hub, set('a'), template('a'))).toBeUndefined();
    expect(subject.remaining(hub, set('a'), template('c'))).toBe(3_000);
  });

  test('does not wait longer when the wall clock is set back', async () => {
    const { debounce: subject, clock } = debounce();
    subject.remaining(hub, set('a'), template('b'));
    clock.set(-3_600_000);
    await clock.advance(3_000);
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(0);
  });

  test('waits for the end of a load, which may need another restart, but not longer than 30 s', async () => {
    let isLoading = true;
    const { debounce: subject, clock } = debounce(() => isLoading);
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(3_000);
    await clock.advance(10_000);
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(3_000);
    isLoading = false;
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(3_000);
    await clock.advance(3_000);
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(0);
    isLoading = true;
    await clock.advance(17_000);
    expect(subject.remaining(hub, set('a'), template('b'))).toBe(0);
  });

  test('applies a template that changes all the time after 30 s', async () => {
    const { debounce: subject, clock } = debounce();
    for (let second = 0; second < 30; second++) {
      expect(subject.remaining(hub, set('a'), template(`b${second}`))).toBeGreaterThan(0);
      await clock.advance(1_000);
    }
    expect(subject.remaining(hub, set('a'), template('last'))).toBe(0);
  });
});
