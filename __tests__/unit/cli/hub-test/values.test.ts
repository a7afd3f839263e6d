import fc from '../../../fast-check';
import { instantOf, localTime, regexProblem, secondsOf } from '../../../../cli/test/file/values';
import { intendedName } from '../../../../cli/test/file/intended-name';

describe('secondsOf', () => {
  test('a duration of units is the sum of its parts', () => {
    const part = fc.nat(59);
    fc.assert(
      fc.property(fc.nat(9), fc.nat(23), part, part, (days, hours, minutes, seconds) => {
        const text = `${days}d${hours}h${minutes}m${seconds}s`;
        return secondsOf(text) === days * 86_400 + hours * 3_600 + minutes * 60 + seconds;
      }),
    );
  });

  test.each(['', 'm', '5', ' 5m', '5 m', '-5m', '5m5m', '1m1h', '0:05', '00:60:00', '1:2:3', '1e3', '٣s'])(
    '%j is read as seconds, or as nothing',
    (text) => {
      expect(secondsOf(text)).toBe(text === '5' ? 5 : undefined);
    },
  );

  test('fractions do not add errors', () => {
    expect(secondsOf('0.1s')).toBe(0.1);
    expect(secondsOf('1m100ms')).toBe(60.1);
  });
});

describe('localTime', () => {
  test('every day of the calendar is valid, with the second added', () => {
    expect(localTime('2028-02-29T23:59')).toBe('2028-02-29T23:59:00');
    expect(localTime('2026-02-29T23:59')).toBeUndefined();
    expect(localTime('2026-00-10T00:00')).toBeUndefined();
    expect(localTime('2026-04-31T00:00')).toBeUndefined();
  });
});

describe('instantOf', () => {
  test('an offset of the sun has its sign', () => {
    expect(instantOf('dawn - 1h30m')).toEqual({ sun: 'dawn', offset: -5_400 });
    expect(instantOf('dawn + 90')).toEqual({ sun: 'dawn', offset: 90 });
  });
});

describe('regexProblem', () => {
  test.each(['on|off', '^[a-z]+$', '(?i)on', '(?P<x>a)'])('%s has a problem', (regex) => {
    expect(regexProblem(regex)).toBeUndefined();
  });
  test.each(['(', '[', '*', ''])('%j has none', (regex) => {
    expect(regexProblem(regex)).toMatch(/^is /);
  });
});

describe('intendedName', () => {
  test.each([
    ['advanc', 'advance'],
    ['advancee', 'advance'],
    ['advacne', 'advance'],
    ['advunce', 'advance'],
    ['Advance', 'advance'],
    ['delay', 'advance'],
    ['state', 'states'],
    ['service', 'action'],
  ])('%s is corrected to %s', (unknown, name) => {
    expect(intendedName(unknown, ['set', 'advance', 'states', 'action'])).toBe(name);
  });

  test('a word that resembles no name is unknown', () => {
    expect(intendedName('xyz', ['set', 'advance', 'at'])).toBeUndefined();
    expect(intendedName('constructor', ['set', 'at'])).toBeUndefined();
  });
});
