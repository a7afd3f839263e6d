import type { Files } from '../../../../../operator/sync/configuration/generate/config-files';
import {
  foldersOf,
  foreignTargets,
  foreignWarning,
} from '../../../../../operator/sync/configuration/generate/foreign-targets';
import { parseHubYaml } from '../../../../../operator/sync/configuration/generate/hub-yaml';

const found = (files: Files | string) =>
  foreignTargets(typeof files === 'string' ? { 'configuration.yaml': files } : files, parseHubYaml);
const targetsOf = (files: Files | string) => found(files).targets;
const pathsOf = (files: Files | string) => targetsOf(files).map(({ type, path }) => `${type} ${path}`);

describe('foreignTargets', () => {
  test.each([
    ['packages', 'homeassistant:\n  packages: !include_dir_named packages\n', ['folder packages']],
    ['themes', 'frontend: {themes: !include_dir_merge_named ./themes/}\n', ['folder themes']],
    ['customize', 'homeassistant: {customize: !include customize.yaml}\n', ['file customize.yaml']],
    ['a list', 'automation own: !include_dir_merge_list /config/a/b\n', ['folder a/b']],
    ['a list of files', 'sensor: !include_dir_list "my sensors"\n', ['folder my sensors']],
    ['an item', 'sensor:\n- !include a.yaml\n- !include b.yaml\n', ['file a.yaml', 'file b.yaml']],
    [
      'the same again',
      'a: !include x.yaml\nb: !include x.yaml\nc: !include_dir_list x.yaml\n',
      ['file x.yaml', 'folder x.yaml'],
    ],
    [
      'the files of the API',
      'automation: !include automations.yaml\nscript x: !include ./scripts.yaml\n',
      [],
    ],
    ['delivered files', 'automation: !include hub-operator/automations.yaml\n', []],
    [
      'a file of that name in a folder',
      'automation: !include a/automations.yaml\n',
      ['file a/automations.yaml'],
    ],
    [
      'what is outside',
      'a: !include ../x.yaml\nb: !include_dir_list /share/x\nc: !include_dir_list ..\n',
      [],
    ],
    ['the directory itself', 'a: !include_dir_list .\n', []],
    ['another tag', 'a: !secret include\nb: !env_var x\nc: include x\n', []],
    ['no YAML', 'a: [!include x', []],
  ])('%s', (_, text, expected) => {
    expect(pathsOf(text)).toEqual(expected);
  });

  test('a file of spec.files is none, and its own includes are searched', () => {
    const files = { 'configuration.yaml': 'a: !include a.yaml\n', 'a.yaml': 'x: !include b.yaml\n' };
    expect(targetsOf(files)).toEqual([
      { type: 'file', path: 'b.yaml', place: 'spec.files[a.yaml], line 1, column 13' },
    ]);
  });

  test('a folder with a file that the hub reads is none, and paths begin at the including file', () => {
    const files = {
      'configuration.yaml':
        'a: !include_dir_named a\nb: !include_dir_list b\nc: !include_dir_list a/deep\nd: !include_dir_list a/d\n',
      'a/deep/x.yaml': 'x: !include ../y.yaml\nz: !include_dir_list deeper\n',
      'b/only.yml': '[]',
      'b/only.txt': '!include nothing.yaml',
    };
    expect(pathsOf(files)).toEqual(['folder b', 'folder a/d', 'file a/y.yaml', 'folder a/deep/deeper']);
  });

  test('names the first place', () => {
    const [target] = targetsOf('x:\n  - !include_dir_list a\n  - !include_dir_named a\n');
    expect(foreignWarning(target!)).toMatch(
      /^spec\.configuration, line 2, column 23: includes the folder a, .* the hub loads nothing of it, unless its volume has it\./,
    );
  });

  test('of thousands the first is named, without searching for all', () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `- !include_dir_list d${index}\n`);
    const { targets, unlooked } = found(`x:\n${lines.join('')}`);
    expect(foldersOf(targets)).toHaveLength(200);
    expect(unlooked).toEqual([
      'spec.configuration, line 202, column 21: includes the folder d200, the first of 2800 beyond the 200 files and folders that are looked for, so nothing says whether the hub’s volume has them. Put them into spec.files, or include one folder above them.',
    ]);
    expect(found(`x:\n${lines.slice(0, 201).join('')}`).unlooked).toEqual([
      expect.stringContaining('the folder d200 beyond the 200 files and folders that are looked for'),
    ]);
    expect(found(`x:\n${lines.slice(0, 200).join('')}`).unlooked).toEqual([]);
  });

  test('a path that is too long to be searched for is named', () => {
    const [fits, long] = [255, 256].map((length) => `a/${'d'.repeat(length - 2)}`);
    expect(found(`x: !include_dir_list ${fits}\n`)).toMatchObject({
      targets: [{ path: fits }],
      unlooked: [],
    });
    expect(found(`x: !include_dir_list ${long}\ny: !include_dir_list ${long}\n`)).toEqual({
      targets: [],
      unlooked: [
        `spec.configuration, line 1, column 22: includes the folder a/${'d'.repeat(58)}…, whose path has 256 characters. Only paths of up to 255 are looked for, so nothing says whether the hub’s volume has it. Shorten it.`,
      ],
    });
    expect(found(`x: !include ${long}.yaml\n`).unlooked).toEqual([expect.stringContaining('the file a/d')]);
  });
});
