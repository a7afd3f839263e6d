import { compileRule } from '../../../operator/offline/cel';

const holds = (rule: string, self: unknown) => compileRule(rule)(self);

describe('compileRule', () => {
  test.each([
    ["self.a == 'x' || self.b != 'y'", { a: 'z', b: 'z' }, true],
    ['has(self.a) && !has(self.b)', { a: 1 }, true],
    ['has(self.a) == has(self.b)', { a: 1 }, false],
    ['has(self.a.b)', { a: {} }, false],
    ['self in [\'on\', "off"]', 'off', true],
    ["!(self in ['on', 'off'])", 'off', false],
    ["self.name in [self.hub + '-admin']", { name: 'villa-admin', hub: 'villa' }, true],
    ['size(self.list) > 0', { list: [] }, false],
    ['self.name.size() <= 2', { name: '👍👍' }, true],
    ["self.all(name, name.matches('^[a-z]+$'))", { ab: 1, c: 2 }, true],
    ["self.all(name, name.matches('^[a-z]+$'))", { ab: 1, C: 2 }, false],
    ['[has(self.a), has(self.b)].filter(each, each).size() == 1', { a: 1 }, true],
    ["(has(self.a) ? self.a : 'none') == 'none'", {}, true],
    ["self.startsWith('a') && self.endsWith('c') && self.contains('b')", 'abc', true],
    ["self == 'it\\'s'", "it's", true],
    ['false || true', {}, true],
  ])('%s', (rule, self, expected) => {
    expect(holds(rule, self)).toBe(expected);
  });

  test('a field that is absent is an error, unless what is before it decides', () => {
    expect(() => holds('self.a == 1', {})).toThrow('no such key: a');
    expect(holds('!has(self.a) || self.a == 1', {})).toBe(true);
  });

  test.each(['self.a -', 'self.a ~ 1', '(self.a', 'self.map(a, a)', 'self.a self.b', "self.a == 'x"])(
    'refuses %s instead of a wrong answer',
    (rule) => {
      expect(() => compileRule(rule)).toThrow('is not understood');
    },
  );
});
