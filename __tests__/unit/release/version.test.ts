import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readReleaseSettings } from '../../../release/settings';
import { setVersion, versionMistake, withVersion } from '../../../release/version';

const digest = `sha256:${'a'.repeat(64)}`;

describe('versionMistake', () => {
  test.each(['1.2.3', '0.1.0', '1.0.0-rc.1'])('%s is a version', (version) => {
    expect(versionMistake(version)).toBeUndefined();
  });
  test.each(['', 'v1.2.3', '1.2', '1.2.3; rm -r .'])(
    '“%s” is not a version, and the message describes the required form',
    (version) => {
      expect(versionMistake(version)).toBe(
        `VERSION=${version} is no version: give one such as 1.2.3 or 1.2.3-rc.1.`,
      );
    },
  );
});

describe('readReleaseSettings', () => {
  test.each(['registry.example/hub-operator', 'registry.example:5000/home/hub-operator:1.2.3'])(
    'takes an image of %s by its digest',
    (name) => {
      const image = `${name}@${digest}`;
      expect(readReleaseSettings({ VERSION: '1.2.3', IMAGE: image, NOTES: '' })).toEqual({
        version: '1.2.3',
        image,
      });
    },
  );

  test.each([
    '',
    'registry.example/hub-operator:1.2.3',
    `hub-operator@${digest}`,
    'registry.example/a@sha256:1',
  ])('refuses the image “%s”, and says how to get its digest', (image) => {
    expect(() => readReleaseSettings({ VERSION: '1.2.3', IMAGE: image })).toThrow(
      /^IMAGE=.* names no image by digest.*make image IMAGE=/,
    );
  });

  test('names all mistakes at once', () => {
    expect(() => readReleaseSettings({})).toThrow(/^VERSION=.*\nIMAGE=/);
  });
});

describe('withVersion', () => {
  test.each([
    ['--set image=REGISTRY/hub-operator:0.1.0 PUSH=1', '--set image=REGISTRY/hub-operator:0.2.0 PUSH=1'],
    ['    newTag: 0.1.0', '    newTag: 0.2.0'],
    ['hub-operator-0.1.0.tgz', 'hub-operator-0.2.0.tgz'],
    ['0.1.0', '0.2.0'],
  ])('changes “%s”', (text, expected) => {
    expect(withVersion(text, '0.1.0', '0.2.0')).toBe(expected);
  });
  test.each(['prometheus 0.1.0', 'hub-operator:0.1.01', 'hub-operator:0.1.0-rc.1', 'hub-operator:0a1b0'])(
    'leaves “%s”',
    (text) => {
      expect(withVersion(text, '0.1.0', '0.2.0')).toBe(text);
    },
  );
});

describe('setVersion', () => {
  test('sets the version of all packages, of the lock file and of the pages, and of nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'version-'));
    try {
      for (const name of ['cli', 'operator']) await mkdir(join(folder, name));
      const manifest = JSON.stringify({ version: '0.1.0', dependencies: { other: '0.1.0' } });
      for (const name of ['', 'cli', 'operator'])
        await writeFile(join(folder, name, 'package.json'), manifest);
      const packages = Object.fromEntries(
        ['', 'cli', 'operator', 'other'].map((name) => [name, { version: '0.1.0' }]),
      );
      await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ version: '0.1.0', packages }));
      await writeFile(join(folder, 'README.md'), 'hub-operator:0.1.0 and other 0.1.0\n');

      expect(await setVersion(folder, '0.2.0', ['README.md'])).toBe('0.1.0');

      const read = async (name: string) => readFile(join(folder, name), 'utf8');
      for (const name of ['', 'cli', 'operator'])
        expect(JSON.parse(await read(join(name, 'package.json')))).toEqual({
          version: '0.2.0',
          dependencies: { other: '0.1.0' },
        });
      expect(JSON.parse(await read('package-lock.json'))).toEqual({
        version: '0.2.0',
        packages: {
          '': { version: '0.2.0' },
          cli: { version: '0.2.0' },
          operator: { version: '0.2.0' },
          other: { version: '0.1.0' },
        },
      });
      expect(await read('README.md')).toBe('hub-operator:0.2.0 and other 0.1.0\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
