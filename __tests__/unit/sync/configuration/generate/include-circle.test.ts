import { generateConfiguration } from '../../../../../operator/sync/configuration/generate/generate';
import type { Files } from '../../../../../operator/sync/configuration/generate/config-files';

const problemOf = (configuration: string, files: Files = {}): string | undefined => {
  const generated = generateConfiguration({ configuration, files, hasSecrets: false });
  return generated.type === 'invalid' ? generated.message : undefined;
};

describe('files that include each other in a circle', () => {
  test.each<[string, string, Files, string]>([
    [
      'two',
      'sensor: !include p/a.yaml\n',
      { 'p/a.yaml': 'x: !include b.yaml\n', 'p/b.yaml': '\ny: !include ../p/a.yaml\n' },
      'spec.files[p/b.yaml], line 2, column 13: the files include each other in a circle: p/a.yaml → p/b.yaml → p/a.yaml. Remove one',
    ],
    [
      'one that includes its folder',
      'sensor: !include_dir_list p\n',
      { 'p/a.yaml': '- !include_dir_named .\n' },
      'spec.files[p/a.yaml], line 1, column 22: the files include each other in a circle: p/a.yaml → p/a.yaml.',
    ],
    [
      'the hub’s own directory',
      'sensor: !include_dir_merge_list .\n',
      {},
      'spec.configuration, line 1, column 33: the files include each other in a circle: configuration.yaml → configuration.yaml.',
    ],
    [
      'a file of another ending',
      'sensor: !include a.txt\n',
      { 'a.txt': '- !include /config/configuration.yaml\n' },
      'circle: configuration.yaml → a.txt → configuration.yaml.',
    ],
  ])('%s', (_, configuration, files, words) => {
    expect(problemOf(configuration, files)).toContain(words);
  });

  test.each<[string, string, Files]>([
    [
      'one file twice',
      'sensor: !include a.yaml\nswitch: !include a.yaml\n',
      { 'a.yaml': '- !include b.yaml\n- !include b.yaml\n', 'b.yaml': 'platform: a\n' },
    ],
    ['files that nothing includes', 'sensor:\n', { 'a.yaml': '!include a.yaml\n' }],
    ['a comment', 'sensor: !include a.yaml\n', { 'a.yaml': '# !include a.yaml\n' }],
    [
      'a folder that a file beside it includes',
      'sensor: !include p/a.yaml\n',
      { 'p/a.yaml': '!include_dir_list b\n', 'p/b/a.yaml': 'platform: a\n' },
    ],
  ])('is not found in: %s', (_, configuration, files) => {
    expect(problemOf(configuration, files)).toBeUndefined();
  });

  test('200 files that include all of those after them take no additional time', () => {
    const names = Array.from({ length: 200 }, (_, index) => `a${index}.yaml`);
    const files = Object.fromEntries(
      names.map((name, index) => [
        name,
        names
          .slice(index + 1)
          .map((each) => `- !include ${each}\n`)
          .join(''),
      ]),
    );
    expect(problemOf('sensor: !include a0.yaml\n', files)).toBeUndefined();
  });
});
