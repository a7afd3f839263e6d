import { countValues, MAX_VALUES, parseBounded, TooManyValues } from '../../../operator/base/bounded-json';
import fc from '../../fast-check';

/** Counts every key and every value, and one more for each container that is not empty. */
function valuesOf(value: unknown): number {
  if (Array.isArray(value)) return 1 + Math.max(0, value.length - 1) + sum(value);
  if (typeof value !== 'object' || value === null) return 0;
  const parts = Object.values(value);
  return 1 + Math.max(0, parts.length - 1) + parts.length + sum(parts);
}
const sum = (parts: readonly unknown[]): number =>
  parts.reduce<number>((all, part) => all + valuesOf(part), 0);

describe('parseBounded', () => {
  test('parses as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseBounded(Buffer.from(text))).toEqual(JSON.parse(text));
        expect(countValues(Buffer.from(text), Infinity)).toBe(valuesOf(JSON.parse(text)));
      }),
      { seed: Number(process.env['SEED'] ?? 1) },
    );
  });

  test.each([
    ['empty objects', '[' + '{},'.repeat(500_000) + '{}]'],
    ['numbers', '[' + '0,'.repeat(MAX_VALUES) + '0]'],
    ['keys', '{' + '"a":0,'.repeat(MAX_VALUES / 2) + '"a":0}'],
    ['an incomplete text', '[{},'.repeat(300_000)],
  ])('%s beyond the limit are refused before they are built', (_, text) => {
    const parse = jest.spyOn(JSON, 'parse');
    expect(() => parseBounded(Buffer.from(text))).toThrow(TooManyValues);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  test('a text that is nested too deeply is refused, since recursive functions would fail later', () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(() => parseBounded(nested(251))).toThrow('nested deeper than 250');
    expect(() => parseBounded(nested(250))).not.toThrow();
  });

  test('brackets and commas in strings do not count', () => {
    const text = JSON.stringify({ a: '[{,:'.repeat(MAX_VALUES), b: '\\"[[[' });
    expect(countValues(Buffer.from(text), Infinity)).toBe(4);
  });

  test.each(['{"a":', '"', '"\\', '{"a\\', '[1', ']', '}}'])('%s is a syntax error', (text) => {
    expect(() => parseBounded(Buffer.from(text))).toThrow(SyntaxError);
  });

  test('the registry of a hub with 12,000 entities is read', () => {
    const entity = {
      ...Object.fromEntries(Array.from({ length: 18 }, (_, index) => [`field_${index}`, null])),
      categories: {},
      labels: [],
      options: { conversation: { should_expose: false }, sensor: { suggested_display_precision: 2 } },
    };
    const text = JSON.stringify({ id: 1, type: 'result', success: true, result: Array(12_000).fill(entity) });
    expect(() => parseBounded(Buffer.from(text))).not.toThrow();
  });
});
