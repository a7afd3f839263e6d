import {
  incompleteContent,
  MAX_OBJECT_VALUES,
  parseJson,
  parseObjects,
  unsafeIntegers,
} from '../../../operator/runtime/json';
import fc from '../../fast-check';
import { growth, NEARLY_LINEAR } from '../growth';

const found = (text: string) => unsafeIntegers(parseJson(text), 'spec');

describe('parseJson', () => {
  test('parses every value that JavaScript can hold as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(found(text).length === 0);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { seed: Number(process.env['SEED'] ?? 1) },
    );
  });

  test.each([
    '{"a": "chat 12345678901234567890"}',
    '{"12345678901234567890": 1}',
    '{"a": "a quote \\" and 12345678901234567890"}',
    '{"a": 9007199254740991}',
    '{"a": -9007199254740991, "b": "9007199254740993"}',
    '{"a": 3.14159265358979323846}',
    '{"a": "deadbeef-1234567890123456-e+20"}',
  ])('leaves %s unchanged', (text) => {
    expect(found(text)).toEqual([]);
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test('throws what JSON.parse throws', () => {
    expect(() => parseJson('{"a": 12345678901234567890')).toThrow(SyntaxError);
  });
});

describe('unsafeIntegers', () => {
  test('finds integers beyond 2^53 with their path and their digits', () => {
    const text =
      '{"actions": [{"data": {"chat_id": 9007199254740993}}], "max": -12345678901234567890, "x": 1.2345678901234567e+19}';
    expect(found(text)).toEqual([
      { path: 'spec.actions[0].data.chat_id', digits: '9007199254740993' },
      { path: 'spec.max', digits: '-12345678901234567890' },
      { path: 'spec.x', digits: '1.2345678901234567e+19' },
    ]);
  });
});

describe('parseObjects', () => {
  const items = (count: number) => Array.from({ length: count }, (_, index) => ({ index }));
  const large = {
    kind: 'HubAutomation',
    metadata: { name: 'large', finalizers: ['a/b'], managedFields: [{ fields: items(2_000) }] },
    spec: { hubRef: { name: 'home' }, id: 'x', triggers: items(900), actions: items(MAX_OBJECT_VALUES) },
    status: { conditions: [{ type: 'Ready' }] },
  };
  const kept = {
    ...large,
    metadata: { ...large.metadata, managedFields: [] },
    spec: { ...large.spec, triggers: [], actions: [] },
    omitted: ['metadata.managedFields', 'spec.triggers', 'spec.actions'],
  };
  const parse = (value: unknown, depth: number) => parseObjects(Buffer.from(JSON.stringify(value)), depth);

  test('a large object is kept without its large parts, in an answer, in a watch and in a list', () => {
    expect(parse(large, 1)).toEqual(kept);
    expect(parse({ type: 'ADDED', object: large }, 2)).toEqual({ type: 'ADDED', object: kept });
    const small = { metadata: { name: 'small' }, spec: { actions: items(MAX_OBJECT_VALUES / 10) } };
    expect(parse({ items: [small, large, small], metadata: {} }, 3)).toEqual({
      items: [small, kept, small],
      metadata: {},
    });
  });

  test('an object below the limit is complete, even with one large part', () => {
    const object = { spec: { actions: items(MAX_OBJECT_VALUES / 4) } };
    expect(parse(object, 1)).toEqual(object);
  });

  test('a part that is nested too deeply is left out, since one object must not stop a whole watch', () => {
    const deep = `{"type":"ADDED","object":{"spec":{"id":"x","actions":${'['.repeat(5_000)}${']'.repeat(5_000)}}}}`;
    expect(parseObjects(Buffer.from(deep), 2)).toEqual({
      type: 'ADDED',
      object: { omitted: ['spec.actions'], spec: { id: 'x', actions: [] } },
    });
  });

  test('integers beyond 2^53 are found beside a part that is left out, and not in it', () => {
    const text = JSON.stringify({ spec: { ...large.spec, data: { chat: 0 } } }).replace(
      /"(index|chat)":0/g,
      '"$1":12345678901234567890',
    );
    const { spec } = parseObjects(Buffer.from(text), 1) as { spec: object };
    expect(unsafeIntegers(spec, 'spec')).toEqual([
      { path: 'spec.data.chat', digits: '12345678901234567890' },
    ]);
  });

  test('names the fields of the spec that are too large, and the same ones each time', () => {
    const message = incompleteContent(parse(large, 1) as never);
    expect(message).toBe(
      'spec.triggers and spec.actions cannot be processed: a resource has at most 25000 keys and values, nested at most 250 deep. Split the resource into smaller ones.',
    );
    const onlyMetadata = { ...large, spec: { hubRef: { name: 'home' } } };
    const fields = Array(13_000).fill({});
    const managed = { ...onlyMetadata, metadata: { name: 'x', managedFields: fields } };
    expect(incompleteContent(parse(managed, 1) as never)).toBeUndefined();
  });

  test.each([
    ['quotes without an end', '"\\"', 500_000],
    ['digits', '1', 5_000_000],
    ['numbers', '-1e+20,', 400_000],
  ])('takes no more time for each character of many %s', async (_, part, most) => {
    const parsed = (count: number) =>
      expect(() => parseObjects(Buffer.from(`[1234567890123456789,[${part.repeat(count)}`), 3)).toThrow();
    expect(await growth(parsed, most)).toBeLessThan(NEARLY_LINEAR);
  });
});
