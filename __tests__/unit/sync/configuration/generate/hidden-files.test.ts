import { ConfigFiles, type Files } from '../../../../../operator/sync/configuration/generate/config-files';
import { hiddenInFolders } from '../../../../../operator/sync/configuration/generate/hidden-files';

const hidden = (files: Files) => hiddenInFolders(new ConfigFiles(files));
const PACKAGES = 'homeassistant:\n  packages: !include_dir_named packages\n';
const THEMES = 'frontend: {themes: !include_dir_merge_named themes}\n';

describe('hiddenInFolders', () => {
  test('names files of one name in a folder that is included by their names', () => {
    expect(
      hidden({
        'configuration.yaml': PACKAGES,
        'packages/b/x.yaml': '',
        'packages/a/x.yaml': '',
        'packages/a/y.yaml': '',
        'packages/x.yaml': '',
        'elsewhere/y.yaml': '',
      }),
    ).toEqual([
      'spec.configuration, line 2, column 32: the files packages/x.yaml, packages/a/x.yaml, packages/b/x.yaml have one name, x, and the hub loads only one of them. Rename the others.',
    ]);
  });

  test('names entries of one name in a folder of which the files are merged', () => {
    expect(
      hidden({
        'configuration.yaml': THEMES,
        'themes/a.yaml': 'Night: {a: 1}\nDay: {a: 1}\n',
        'themes/b/a.yaml': '<<: {Night: {a: 2}}\n',
        'themes/c.yaml': '- Night\n',
      }),
    ).toEqual([
      'spec.configuration, line 1, column 45: the files themes/a.yaml, themes/b/a.yaml have the entry Night, and the hub loads only one of these entries. Rename the others.',
    ]);
  });

  test.each<[string, Files]>([
    ['a list of files', { 'configuration.yaml': 'sensor: !include_dir_list packages\n' }],
    ['a merged list', { 'configuration.yaml': 'sensor: !include_dir_merge_list packages\n' }],
    [
      'merged files without a common entry',
      { 'configuration.yaml': 'a: !include_dir_merge_named packages\n' },
    ],
    ['a file', { 'configuration.yaml': 'a: !include packages/a/x.yaml\n' }],
    ['another folder', { 'configuration.yaml': 'a: !include_dir_named packages/a\n' }],
    ['a text', { 'configuration.yaml': '# !include_dir_named packages\na: "!include_dir_named packages"\n' }],
  ])('%s: nothing is hidden', (_, main) => {
    expect(hidden({ ...main, 'packages/a/x.yaml': 'a: 1\n', 'packages/b/x.yaml': 'b: 1\n' })).toEqual([]);
  });

  test('is bounded, as are its sentences', () => {
    const names = Array.from({ length: 100 }, (_, index) => `packages/${index}/x.yaml`);
    const keys = Array.from({ length: 200 }, (_, index) => `${'k'.repeat(100)}${index}: 1\n`).join('');
    const files = Object.fromEntries(names.map((name) => [name, keys]));
    const found = hidden({
      'configuration.yaml': `${PACKAGES}${THEMES.replace(' themes}', ' packages}')}`,
      ...files,
    });
    expect(found).toHaveLength(50);
    expect(found[0]).toContain('packages/12/x.yaml and 95 more have one name, x, ');
    expect(Math.max(...found.map((each) => each.length))).toBeLessThan(400);
  });
});
