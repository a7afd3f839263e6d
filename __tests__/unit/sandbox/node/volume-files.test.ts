import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1Pod, V1Volume } from '@kubernetes/client-node';
import { replaceFiles, type Files } from '../../../../sandbox/node/atomic-directory';
import type { Lookup } from '../../../../sandbox/node/lookup';
import { fingerprint, volumeFiles } from '../../../../sandbox/node/volume-files';

const pod: V1Pod = { metadata: { name: 'hub-0', namespace: 'home', labels: { app: 'hub' } } };
const lookup: Lookup = {
  configMap: (namespace, name) =>
    `${namespace}/${name}` === 'home/map'
      ? { data: { a: 'A', b: 'B' }, binaryData: { c: 'AP8=' } }
      : undefined,
  secret: (namespace, name) =>
    `${namespace}/${name}` === 'home/secret' ? { data: { s: 'U0VDUkVU' } } : undefined,
  claim: () => undefined,
  volume: () => undefined,
};

const shown = (volume: Omit<V1Volume, 'name'>) =>
  Object.fromEntries(
    [...volumeFiles({ name: 'v', ...volume }, pod, lookup)].map(([path, { data, mode }]) => [
      path,
      `${data.toString('latin1')} ${mode.toString(8)}`,
    ]),
  );

test('a ConfigMap has every key, text and binary', () => {
  expect(shown({ configMap: { name: 'map' } })).toEqual({ a: 'A 644', b: 'B 644', c: '\0\xff 644' });
});

test('items choose, rename and set modes', () => {
  const items = [
    { key: 'a', path: 'deep/er/a' },
    { key: 'b', path: 'b', mode: 0o400 },
  ];
  expect(shown({ configMap: { name: 'map', items, defaultMode: 0o600 } })).toEqual({
    'deep/er/a': 'A 600',
    b: 'B 400',
  });
});

test('a Secret has its decoded values', () => {
  expect(shown({ secret: { secretName: 'secret' } })).toEqual({ s: 'SECRET 644' });
});

test('a projected volume has all its sources in one directory', () => {
  const sources = [
    { configMap: { name: 'map', items: [{ key: 'a', path: 'a' }] } },
    { secret: { name: 'secret' } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    { serviceAccountToken: { path: 'token' } },
  ];
  expect(shown({ projected: { sources } })).toEqual({ a: 'A 644', s: 'SECRET 644', namespace: 'home 644' });
});

test.each<[string, Omit<V1Volume, 'name'>]>([
  ['configmap "none" not found', { configMap: { name: 'none' } }],
  ['secret "none" not found', { secret: { secretName: 'none' } }],
  [
    'references non-existent configmap key: x',
    { configMap: { name: 'map', items: [{ key: 'x', path: 'x' }] } },
  ],
])('what is missing is named: %s', (message, volume) => {
  expect(() => shown(volume)).toThrow(message);
});

test('an optional volume may be missing', () => {
  expect(shown({ configMap: { name: 'none', optional: true } })).toEqual({});
  expect(
    shown({ secret: { secretName: 'secret', items: [{ key: 'x', path: 'x' }], optional: true } }),
  ).toEqual({});
});

test('the fingerprint tells content, names and modes apart', () => {
  const files = (path: string, text: string, mode: number): Files =>
    new Map([[path, { data: Buffer.from(text), mode }]]);
  const different = [
    files('a', 'b', 1),
    files('a', 'c', 1),
    files('ab', '', 1),
    files('a', 'b', 2),
    files('c', 'b', 1),
  ];
  expect(new Set(different.map(fingerprint)).size).toBe(different.length);
  expect(fingerprint(files('a', 'b', 1))).toBe(fingerprint(files('a', 'b', 1)));
});

describe('replaceFiles', () => {
  const directory = mkdtempSync(join(tmpdir(), 'volume-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const put = (files: Record<string, string>) =>
    replaceFiles(
      directory,
      new Map(Object.entries(files).map(([path, text]) => [path, { data: Buffer.from(text), mode: 0o640 }])),
    );

  test('files are replaced together, old names and generations go', async () => {
    await put({ a: '1', 'deep/b': '1', gone: '1' });
    const first = readlinkSync(join(directory, '..data'));
    await put({ a: '2', 'deep/b': '2', fresh: '2' });
    const second = readlinkSync(join(directory, '..data'));
    expect(second).not.toBe(first);
    expect(readdirSync(directory).sort()).toEqual(['..data', second, 'a', 'deep', 'fresh'].sort());
    expect(readlinkSync(join(directory, 'a'))).toBe('..data/a');
    expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('2');
    expect(readFileSync(join(directory, 'deep/b'), 'utf8')).toBe('2');
    expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o640);
  });
});
