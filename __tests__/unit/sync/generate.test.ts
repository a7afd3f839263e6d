import { parseDocument } from 'yaml';
import { configHash, generateConfiguration } from '../../../operator/sync/configuration/generate';
import fc from '../../fast-check';

const text = (input: string): string => {
  const generated = generateConfiguration(input);
  if (generated.type === 'invalid') throw new Error(generated.message);
  return generated.text;
};

const includes =
  'automation: !include automations.yaml\nscene: !include scenes.yaml\nscript: !include scripts.yaml\n';

describe('generateConfiguration', () => {
  test.each([
    ['an empty configuration', '', includes],
    ['only comments', '# nothing yet', `# nothing yet\n${includes}`],
    ['other sections', 'logger:\n  default: info\n', `logger:\n  default: info\n${includes}`],
    ['no newline at the end', 'frontend:', `frontend:\n${includes}`],
    [
      'a section that includes another file',
      'automation: !include_dir_merge_list automations\n',
      'automation: !include_dir_merge_list automations\nautomation hub_operator: !include automations.yaml\nscene: !include scenes.yaml\nscript: !include scripts.yaml\n',
    ],
    [
      'sections of the user’s own',
      'scene: []\nscript:\n  night:\n    sequence: []\n',
      'scene: []\nscript:\n  night:\n    sequence: []\nautomation: !include automations.yaml\nscene hub_operator: !include scenes.yaml\nscript hub_operator: !include scripts.yaml\n',
    ],
    [
      'a section whose label is taken as well',
      'scene: !include my.yaml\nscene hub_operator: !include more.yaml\n',
      'scene: !include my.yaml\nscene hub_operator: !include more.yaml\nautomation: !include automations.yaml\nscene hub_operator_2: !include scenes.yaml\nscript: !include scripts.yaml\n',
    ],
    [
      'a labelled section besides',
      'automation old: !include old.yaml\n',
      `automation old: !include old.yaml\n${includes}`,
    ],
    [
      'a labelled section that includes the file already',
      'automation ui: !include ./automations.yaml\nscene ui: !include /config/scenes.yaml\n',
      'automation ui: !include ./automations.yaml\nscene ui: !include /config/scenes.yaml\nscript: !include scripts.yaml\n',
    ],
    ['all three', includes, includes],
  ])('the includes are added to %s', (_, input, expected) => {
    expect(text(input)).toBe(expected);
  });

  test('the text of the user survives byte for byte', () => {
    const odd =
      'homeassistant:\n  name:   "Zuhause"   # spaces and comment\nsensor: !secret  x\nyes: on\n"a": !env_var B c\n';
    expect(text(odd)).toBe(odd + includes);
  });

  test('whatever YAML mapping it is given, it is the beginning of the result, and the result has the includes', () => {
    const name = fc.stringMatching(/^[a-z_]{1,12}$/);
    fc.assert(
      fc.property(
        fc.dictionary(name, fc.constantFrom('', ' 1', ' !secret x', '\n  a: b'), { maxKeys: 6 }),
        (sections) => {
          const input = Object.entries(sections)
            .map(([key, value]) => `${key}:${value}\n`)
            .join('');
          const result = text(input);
          expect(result.startsWith(input)).toBe(true);
          const keys = Object.keys(parseDocument(result, { logLevel: 'silent' }).toJSON() as object);
          expect(keys).toEqual(expect.arrayContaining(['automation', 'scene', 'script']));
          expect(new Set(keys).size).toBe(keys.length);
        },
      ),
    );
  });

  test.each([
    ['broken YAML', 'logger:\n  default: [', 'spec.configuration is not YAML'],
    ['a key twice', 'logger:\nlogger:\n', 'spec.configuration is not YAML'],
    ['a list', '- logger', 'must be a mapping'],
    ['a scalar', 'logger', 'must be a mapping'],
  ])('%s is refused with a message', (_, input, message) => {
    expect(generateConfiguration(input)).toEqual({
      type: 'invalid',
      message: expect.stringContaining(message),
    });
  });
});

describe('configHash', () => {
  test('the hash is that of names and contents, not of their order', () => {
    expect(configHash({ a: '1', b: '2' })).toBe(configHash({ b: '2', a: '1' }));
    expect(configHash({ a: '1', b: '2' })).not.toBe(configHash({ a: '2', b: '1' }));
    expect(configHash({ a: '1' })).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});
