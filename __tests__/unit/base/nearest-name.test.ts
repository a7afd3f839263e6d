import { nearestName } from '../../../operator/base/nearest-name';

describe('nearestName', () => {
  test.each([
    ['mqqt', 'mqtt', 'another letter'],
    ['mqt', 'mqtt', 'one left out'],
    ['mqttt', 'mqtt', 'one too many'],
    ['mtqt', 'mqtt', 'two exchanged'],
    ['prch-lihgt', 'porch-light', 'two mistakes'],
  ])('%s is corrected to %s: %s', (name, meant) => {
    expect(nearestName(name, ['hall', meant, 'kitchen-light'])).toBe(meant);
  });

  test.each([
    ['a name of other letters', 'garage', ['porch-light', 'mqtt']],
    ['more mistakes than a third of a short name', 'abc', ['xbd']],
    ['four mistakes in a long name', 'living-room-lamp', ['giving-soon-bump']],
    ['nothing to choose from', 'mqtt', []],
  ])('%s has no near name', (_, name, known) => {
    expect(nearestName(name, known)).toBeUndefined();
  });

  test('the one with the fewest mistakes counts, then the first by the alphabet, in any order of the names', () => {
    const known = ['lamp-3', 'lamp-2', 'lamps-44', 'lamp-4'];
    for (const names of [known, [...known].reverse()]) expect(nearestName('lamp-1', names)).toBe('lamp-2');
    expect(nearestName('lamps-4', known)).toBe('lamp-4');
  });
});
