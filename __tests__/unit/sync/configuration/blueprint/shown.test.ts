import type { EntityPayload } from '../../../../../operator/client/connection/config-entity';
import { shownBlueprint } from '../../../../../operator/sync/configuration/blueprint/shown';

/** A hub whose blueprint has this metadata, and expands given inputs to this body. */
function hubWith(metadata: object, body: (input: Readonly<Record<string, unknown>>) => EntityPayload) {
  const asked: object[] = [];
  const substitute = (_domain: string, _path: string, input: object) => {
    asked.push(input);
    return Promise.resolve(body(input as Readonly<Record<string, unknown>>));
  };
  const shown = (domain: 'automation' | 'script' | 'template' = 'automation') =>
    shownBlueprint({ substitute }, domain, 'a.yaml', { metadata: { ...metadata } });
  return { asked, shown };
}

const METADATA = { name: 'Lamp', domain: 'automation', input: { lamp: null } };
const marked = (name: string) => `hub-operator input ${name}`;

describe('shownBlueprint', () => {
  test('old and new syntax of an automation or template give one body, in any order; of a script they do not', async () => {
    const old = hubWith(METADATA, () => ({ trigger: [1], condition: [2], action: [3], mode: 'single' }));
    const now = hubWith(METADATA, () => ({ mode: 'single', actions: [3], conditions: [2], triggers: [1] }));
    expect((await old.shown()).hash).toBe((await now.shown()).hash);
    expect((await old.shown('template')).hash).toBe((await now.shown('template')).hash);
    expect((await old.shown('script')).hash).not.toBe((await now.shown('script')).hash);
  });

  test('another body, other metadata and another source are distinguished', async () => {
    const hashes = await Promise.all(
      [
        hubWith(METADATA, () => ({ a: 1 })),
        hubWith(METADATA, () => ({ a: 2 })),
        hubWith({ ...METADATA, description: 'a' }, () => ({ a: 1 })),
        hubWith({ ...METADATA, source_url: 'https://a' }, () => ({ a: 1 })),
      ].map(async (each) => (await each.shown()).hash),
    );
    expect(new Set(hashes).size).toBe(4);
  });

  test('each input gets a text of its own, including one with a default and one of a section', async () => {
    const input = { a: { default: 1 }, s: { name: 'Section', input: { b: null, c: {} } } };
    const { asked, shown } = hubWith({ ...METADATA, input }, () => ({}));
    await shown();
    expect(asked).toEqual([{ a: marked('a'), b: marked('b'), c: marked('c') }]);
  });

  test('inputs that are shown under a condition are probed with values for which it holds', async () => {
    const input = {
      mode: {},
      level: { visible: { field: 'mode', value: 'auto' } },
      other: { visible: [{ field: 'mode', operator: 'in', value: ['manual', 'off'] }] },
      always: { visible: true },
      s: { visible: { field: 'x', operator: 'not_exists' }, input: { inner: {} } },
      x: { visible: { field: 'mode', operator: 'not_eq', value: 'y' } },
    };
    const { asked, shown } = hubWith({ ...METADATA, input }, () => ({}));
    await shown();
    expect(asked).toEqual([
      expect.objectContaining({ mode: marked('mode'), x: marked('x') }),
      expect.objectContaining({ mode: 'auto', x: '', level: marked('level'), inner: marked('inner') }),
      expect.objectContaining({ mode: 'manual', x: '' }),
    ]);
  });

  test('many conditions on one input cause at most eight further probes', async () => {
    const entries = Array.from(
      { length: 50 },
      (_, n) => [`i${n}`, { visible: { field: 'mode', value: n } }] as const,
    );
    const { asked, shown } = hubWith(
      { ...METADATA, input: { mode: {}, ...Object.fromEntries(entries) } },
      () => ({}),
    );
    await shown();
    expect(asked).toHaveLength(9);
  });
});
