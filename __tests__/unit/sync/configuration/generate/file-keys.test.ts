import { isInParts, withPartFiles } from '../../../../../operator/sync/configuration/generate/parts';
import { generateConfiguration } from '../../../../../operator/sync/configuration/generate/generate';
import type { Files } from '../../../../../operator/sync/configuration/generate/config-files';
import {
  entriesFor,
  filesOf,
  sizeOfNames,
} from '../../../../../operator/sync/configuration/generate/file-keys';
import fc from '../../../../fast-check';

const HASH = 'sha256:1';
const PLAIN: Files = { 'configuration.yaml': 'a:', '_b-c.d.txt': 'b' };
const NESTED: Files = { 'configuration.yaml': 'a:', 'my rooms/hall-1.yaml': 'b', '-odd': 'c' };

const segment = fc
  .string({ unit: fc.constantFrom(...'ab-_. sB1'), minLength: 1, maxLength: 8 })
  .filter((text) => !text.startsWith('.'));
const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

describe('entriesFor', () => {
  test('plain names are the keys, as in every earlier version', () => {
    expect(entriesFor(PLAIN, HASH)).toEqual(PLAIN);
    expect(sizeOfNames(Object.keys(PLAIN))).toBe(0);
  });

  test('with a folder all keys are escaped, and the names are listed with the content', () => {
    expect(entriesFor(NESTED, HASH)).toEqual({
      '-configuration.yaml': 'a:',
      '-my-brooms-shall--1.yaml': 'b',
      '---odd': 'c',
      '.files': JSON.stringify({ content: HASH, names: Object.keys(NESTED) }),
    });
  });

  test('contents in parts and those in one ConfigMap have no key in common that a pod links', () => {
    const entries = entriesFor(withPartFiles(NESTED), HASH);
    expect(Object.keys(entries)).toEqual(['-configuration.yaml-p', '.files']);
    fc.assert(
      fc.property(name, (each) => {
        expect(Object.keys(entriesFor({ 'a/b': '', [each]: '' }, HASH))).not.toContain(
          '-configuration.yaml-p',
        );
      }),
    );
  });

  test('are read back, and are keys of a ConfigMap', () => {
    fc.assert(
      fc.property(fc.dictionary(name, fc.string(), { minKeys: 1 }), (files) => {
        const entries = entriesFor(files, HASH);
        for (const key of Object.keys(entries)) expect(key).toMatch(/^[-._a-zA-Z0-9]+$/);
        expect(filesOf(entries)).toEqual(files);
        expect(Object.hasOwn(entries, 'configuration.yaml') && Object.hasOwn(entries, '.files')).toBe(false);
      }),
    );
  });

  test('their names are counted with at least the room that they take', () => {
    const names = Object.keys(NESTED);
    const entries = entriesFor(Object.fromEntries(names.map((each) => [each, ''])), '');
    const room = Object.entries(entries).reduce((sum, [key, text]) => sum + key.length + text.length, 0);
    expect(sizeOfNames(names)).toBeGreaterThanOrEqual(room - '{"content":"","names":[]}.files'.length);
  });
});

test('escaped keys and the list of names count for the size of a configuration', () => {
  const isInPartsWith = (folder: string) => {
    const names = Array.from({ length: 200 }, (_, index) => `${folder}${'b'.repeat(90)}${index}.txt`);
    const files = Object.fromEntries(names.map((name) => [name, 'x'.repeat(5_000)]));
    const generated = generateConfiguration({ configuration: '', files, hasSecrets: false });
    return generated.type === 'configuration' && isInParts(generated.files);
  };
  expect([isInPartsWith(''), isInPartsWith('a/')]).toEqual([false, true]);
});
