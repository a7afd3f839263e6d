import fc from '../../../../fast-check';
import type { EntityPayload } from '../../../../../operator/client/connection/config-entity';
import {
  fileText,
  itemText,
  readFileText,
  undeliverable,
} from '../../../../../operator/sync/config-entities/delivery/item-text';

const nested = (levels: number): EntityPayload =>
  levels === 1 ? { end: true } : { inner: nested(levels - 1) };

describe('the file of delivered definitions', () => {
  test('has one line for each definition, and returns them', () => {
    const lines = ['a', 'b'].map((id) => itemText('automation', id, { alias: id, triggers: [] }));
    const text = fileText('automation', lines);
    expect(text).toBe(
      '[\n{"alias": "a", "triggers": [], "id": "a"},\n{"alias": "b", "triggers": [], "id": "b"}\n]\n',
    );
    expect([...readFileText('automation', text)]).toEqual([
      ['a', { alias: 'a', triggers: [] }],
      ['b', { alias: 'b', triggers: [] }],
    ]);
  });

  test('is a mapping for scripts, and a list without items or a mapping without entries is one', () => {
    expect(fileText('script', [itemText('script', 'night', { sequence: [] })])).toBe(
      '{\n"night": {"sequence": []}\n}\n',
    );
    expect(JSON.parse(fileText('scene', []))).toEqual([]);
    expect(JSON.parse(fileText('script', []))).toEqual({});
  });

  test('that someone has broken has no definitions', () => {
    for (const text of ['[{"id": ', 'null', '']) expect(readFileText('automation', text).size).toBe(0);
  });

  test.each([
    ['a line break of YAML 1.1', 'a\u0085b\u2028c\u2029', '"a\\u0085b\\u2028c\\u2029"'],
    ['what the loader does not accept', '\u007f\ufeff\uffff', '"\\u007f\\ufeff\\uffff"'],
    ['half a character', 'a\ud83d', '"a\ufffd"'],
    ['a large number, which is a text without a point', 1e21, '1.0e+21'],
    ['a small one', 1e-7, '1.0e-7'],
    ['others', [0, -1.5, 1.5e-7, true, null, '🛋'], '[0, -1.5, 1.5e-7, true, null, "🛋"]'],
  ])('%s', (_, value, expected) => {
    expect(itemText('script', 'x', { value })).toBe(`"x": {"value": ${expected}}`);
  });

  test('keeps every value, in lines without a character that the loader refuses', () => {
    const value = fc.jsonValue({ noUnicodeString: false });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (payload) => {
        const text = fileText('scene', [itemText('scene', 'x', payload)]);
        expect(text).not.toMatch(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/);
        const { id: _, ...expected } = payload;
        const [found] = readFileText('scene', text).values();
        expect(found).toEqual(JSON.parse(JSON.stringify(expected)));
      }),
    );
  });

  test('refuses a definition that the loader could not read', () => {
    expect(undeliverable(nested(100))).toBeUndefined();
    expect(undeliverable(nested(101))).toMatch(/more than 100 lists and mappings/);
    expect(undeliverable({ ['k'.repeat(998)]: 1 })).toBeUndefined();
    expect(undeliverable({ list: [{ ['k'.repeat(999)]: 1 }] })).toMatch(
      /a key of more than 1000 characters with its quotes and escapes \(kkk/,
    );
    for (const key of ['"'.repeat(600), '\u2028'.repeat(200), '\u0001'.repeat(200)])
      expect(undeliverable({ [key]: 1 })).toMatch(/a key of more than 1000 characters/);
  });
});
