import type { HubConfigurationSpec } from '../../../../../operator/kinds';
import {
  givenFiles,
  type NamedConfigMap,
} from '../../../../../operator/sync/configuration/generate/given-files';

type Source = NonNullable<HubConfigurationSpec['filesFrom']>[number];

const from = (name: string, more: Partial<Source> = {}): Source => ({
  configMapRef: { name },
  folder: '',
  optional: false,
  ...more,
});

const given = (
  filesFrom: readonly Source[],
  configMaps: Readonly<Record<string, NamedConfigMap>>,
  files?: Readonly<Record<string, string>>,
) =>
  givenFiles(
    { hubRef: { name: 'villa' }, ...(files && { files }), filesFrom },
    new Map(Object.entries(configMaps)),
  );

describe('the files of a configuration', () => {
  test('each key of a ConfigMap is a file of its folder', () => {
    const configMaps = { rooms: { data: { 'hall.yaml': 'a', 'attic.yaml': 'b' } } };
    expect(given([from('rooms', { folder: 'packages/ground floor' })], configMaps)).toEqual({
      type: 'files',
      files: { 'packages/ground floor/attic.yaml': 'b', 'packages/ground floor/hall.yaml': 'a' },
      origins: {
        'packages/ground floor/attic.yaml': 'spec.filesFrom[0], key attic.yaml of the ConfigMap rooms',
        'packages/ground floor/hall.yaml': 'spec.filesFrom[0], key hall.yaml of the ConfigMap rooms',
      },
    });
  });

  test('a later entry takes precedence, and files over all', () => {
    const configMaps = {
      one: { data: { 'a.yaml': '1', 'b.yaml': '1', 'c.yaml': '1' } },
      two: { data: { 'b.yaml': '2', 'c.yaml': '2' } },
    };
    expect(given([from('one'), from('two')], configMaps, { 'c.yaml': '3' })).toEqual({
      type: 'files',
      files: { 'a.yaml': '1', 'b.yaml': '2', 'c.yaml': '3' },
      origins: {
        'a.yaml': 'spec.filesFrom[0], key a.yaml of the ConfigMap one',
        'b.yaml': 'spec.filesFrom[1], key b.yaml of the ConfigMap two',
      },
    });
  });

  test('items choose keys and give them paths', () => {
    const configMaps = { all: { data: { hall: 'a', 'README.md': 'read' } } };
    const items = [{ key: 'hall', path: 'ground floor/hall.yaml' }];
    expect(given([from('all', { folder: 'packages', items })], configMaps)).toMatchObject({
      files: { 'packages/ground floor/hall.yaml': 'a' },
    });
  });

  test('a ConfigMap that does not exist is named', () => {
    expect(given([from('rooms')], {})).toEqual({
      type: 'missing',
      message: 'spec.filesFrom[0]: there is no ConfigMap rooms. Create it.',
    });
  });

  test('a key that does not exist is named, with the existing ones', () => {
    const items = [{ key: 'hall', path: 'hall.yaml' }];
    const data = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => [key, '']));
    expect(given([from('rooms', { items })], { rooms: { data } })).toEqual({
      type: 'missing',
      message:
        'spec.filesFrom[0]: the ConfigMap rooms has no key hall, it has a, b, c, d, e, 2 more. Add it.',
    });
    expect(given([from('rooms', { items })], { rooms: {} })).toMatchObject({
      message: 'spec.filesFrom[0]: the ConfigMap rooms has no key hall, it is empty. Add it.',
    });
  });

  test.each([
    'villa-configuration',
    'villa-configuration-0',
    'villa-configuration-7',
    'villa-configuration-accepted',
    'villa-configuration-last-good',
    'villa-operator-ip',
    'villa-delivery-7',
    'villa-delivery-7-0123',
  ])('%s is refused, also one that the operator has not written yet and an optional one', (name) => {
    const message = expect.stringMatching(
      `^spec\\.filesFrom\\[0\\]: the operator itself writes the ConfigMap ${name}, `,
    );
    expect(given([from(name)], {})).toEqual({ type: 'invalid', message });
    expect(given([from(name, { optional: true })], { [name]: { data: { a: '' } } })).toEqual({
      type: 'invalid',
      message,
    });
  });

  test.each(['villa-configuration-8', 'villa-configurations', 'villa-delivery-70', 'attic-configuration'])(
    '%s belongs to a user',
    (name) => {
      expect(given([from(name)], { [name]: { data: {} } })).toMatchObject({ type: 'files' });
    },
  );

  test('what is optional may be absent', () => {
    const items = [
      { key: 'hall', path: 'hall.yaml' },
      { key: 'attic', path: 'attic.yaml' },
    ];
    const sources = [from('none', { optional: true }), from('rooms', { items, optional: true })];
    expect(given(sources, { rooms: { data: { attic: 'b' } } })).toMatchObject({
      type: 'files',
      files: { 'attic.yaml': 'b' },
    });
  });

  test.each([
    ['README.md', {}, 'README.md', 'Rename the key, or name the keys that are files in items'],
    ['.hidden.yaml', {}, '.hidden.yaml', 'Rename the key'],
    ['secrets.yaml', { folder: 'packages' }, 'packages/secrets.yaml', 'no folder has a secrets.yaml'],
    ['configuration.yaml', {}, 'configuration.yaml', 'belongs to the hub or to the operator'],
    ['hub-operator.yaml', {}, 'hub-operator.yaml', 'belongs to the hub or to the operator'],
    ['a', { items: [{ key: 'a', path: '../out.yaml' }] }, '../out.yaml', 'Correct the path'],
    ['a', { items: [{ key: 'a', path: '/etc/out.yaml' }] }, '/etc/out.yaml', 'Correct the path'],
    ['a', { folder: 'a/b/c', items: [{ key: 'a', path: 'd/e.yaml' }] }, 'a/b/c/d/e.yaml', 'Correct the path'],
    ['a', { items: [{ key: 'a', path: `${'a'.repeat(116)}.yaml` }] }, 'aaa.yaml', 'at most 120 characters'],
  ])('the key %s with %j is not a file', (key, more, path, words) => {
    const { type, message } = given([from('rooms', more)], { rooms: { data: { [key]: '' } } }) as {
      type: string;
      message: string;
    };
    expect(type).toBe('invalid');
    expect(message).toMatch(
      new RegExp(
        `^spec\\.filesFrom\\[0\\], key ${key.replace(/\./g, '\\.')} of the ConfigMap rooms: the file `,
      ),
    );
    expect(message).toContain(`${path} is not allowed`);
    expect(message).toContain(words);
  });

  test('a value that is not text is refused', () => {
    expect(given([from('rooms')], { rooms: { binaryData: { 'a.yaml': '/w==' } } })).toEqual({
      type: 'invalid',
      message:
        'spec.filesFrom[0], key a.yaml of the ConfigMap rooms: it is not text (binaryData). Remove it, or name the keys that are files in items.',
    });
    const items = [{ key: 'b', path: 'b.yaml' }];
    const mixed = { binaryData: { 'a.png': '/w==' }, data: { b: 'text' } };
    expect(given([from('rooms', { items })], { rooms: mixed })).toMatchObject({
      files: { 'b.yaml': 'text' },
    });
  });

  test('a key such as constructor, which every object of JavaScript has, is missing in a ConfigMap without it', () => {
    const items = [{ key: 'constructor', path: 'a.yaml' }];
    expect(given([from('rooms', { items })], { rooms: { data: {} } })).toMatchObject({ type: 'missing' });
  });
});
