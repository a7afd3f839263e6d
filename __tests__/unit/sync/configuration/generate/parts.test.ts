import { gzipSync } from 'node:zlib';
import {
  digestsOfParts,
  isInSeveralObjects,
  LARGEST_PART,
  mainOf,
  partsOf,
  withPartFiles,
} from '../../../../../operator/sync/configuration/generate/parts';
import { packed, unpacked } from '../../../../../operator/sync/configuration/generate/packed-files';
import type { Files } from '../../../../../operator/sync/configuration/generate/config-files';

const MAIN =
  'logger:\nscript hub_operator: {hub_operator_configuration: {variables: {configuration: "1"}}}\n';
const homeOf = (count: number, bytes: number): Files => ({
  'configuration.yaml': MAIN,
  ...Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`packages/p${index}.yaml`, `${index}`.padEnd(bytes, 'x')]),
  ),
});
const size = (files: Files) => Object.values(files).reduce((sum, text) => sum + text.length, 0);

test('each file but configuration.yaml is in one part', () => {
  const files = withPartFiles(homeOf(120, 10_000));
  const [main, parts] = [mainOf(files), partsOf(files)];
  expect(Object.keys(main)).toEqual(['configuration.yaml']);
  expect(parts).toHaveLength(8);
  const names = [main, ...parts].flatMap((part) => Object.keys(part));
  expect(names.toSorted()).toEqual(Object.keys(files).toSorted());
});

test.each([
  [3, 900 * 1_024],
  [6, 500 * 1_024],
  [10, 300 * 1_024],
  [500, 6_000],
])('%i files of %i bytes fit', (count, bytes) => {
  const parts = partsOf(withPartFiles(homeOf(count, bytes)));
  for (const part of parts) expect(size(part)).toBeLessThanOrEqual(LARGEST_PART + 100);
});

test('one changed, added or removed file is one changed part', () => {
  const files = homeOf(120, 10_000);
  const before = digestsOfParts(withPartFiles(files));
  const changed = (after: Files) =>
    digestsOfParts(withPartFiles(after)).filter((digest, index) => digest !== before[index]).length;
  const { 'packages/p9.yaml': _, ...less } = files;
  expect(changed({ ...files, 'packages/p7.yaml': 'other' })).toBe(1);
  expect(changed({ ...files, 'packages/new.yaml': 'other' })).toBe(1);
  expect(changed(less)).toBe(1);
  expect(changed({ ...files, 'configuration.yaml': 'other' })).toBe(0);
});

describe('a change', () => {
  const before = withPartFiles(homeOf(40, 100));
  const [one, other] = ['packages/p1.yaml', 'packages/p2.yaml'];
  const after = (changes: Files) => withPartFiles({ ...before, ...changes });

  test.each<[string, Files, boolean]>([
    ['of nothing', {}, false],
    ['of the marker', { 'configuration.yaml': MAIN.replace('"1"', '"2"') }, false],
    ['of one file', { [one]: 'a' }, false],
    ['of configuration.yaml', { 'configuration.yaml': MAIN.replace('logger', 'history') }, false],
    ['of one file and configuration.yaml', { [one]: 'a', 'configuration.yaml': `${MAIN}history:\n` }, true],
    ['of files of two parts', { [one]: 'a', [other]: 'b' }, true],
  ])('%s is in several objects: %s', (_, changes, expected) => {
    expect(isInSeveralObjects(before, after(changes))).toBe(expected);
  });

  test('into parts is in several objects, and one of a small configuration is not', () => {
    expect(isInSeveralObjects(homeOf(40, 100), before)).toBe(true);
    expect(isInSeveralObjects(homeOf(40, 100), homeOf(30, 200))).toBe(false);
  });
});

test('the packed form has all files', () => {
  const files = homeOf(3, 100);
  expect(unpacked(packed(files))).toEqual(files);
});

test.each(['null', '[]', '{"a.yaml": 1}', '5'])('the packed form %s is broken', (text) => {
  expect(() => unpacked(gzipSync(text))).toThrow(TypeError);
});
