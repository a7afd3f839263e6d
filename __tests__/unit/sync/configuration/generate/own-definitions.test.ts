import { ConfigFiles, type Files } from '../../../../../operator/sync/configuration/generate/config-files';
import { ownDefinitionsIn } from '../../../../../operator/sync/configuration/generate/own-definitions';

const inFiles = (files: Files | string) =>
  ownDefinitionsIn(new ConfigFiles(typeof files === 'string' ? { 'configuration.yaml': files } : files));

describe('ownDefinitionsIn', () => {
  test.each([
    ['a section', 'automation: [{id: a}, {id: "1"}, {alias: none}, text]\n', { automation: ['1', 'a'] }],
    ['a labelled section', 'scene own:\n  - id: film\n', { scene: ['film'] }],
    [
      'scripts',
      'script: {night: {sequence: []}, day: }\nscript own: {night: }\n',
      { script: ['day', 'night'] },
    ],
    ['an only automation', 'automation own: {id: a}\n', { automation: ['a'] }],
    ['the marker', 'script: {hub_operator_configuration: {}}\n', {}],
    ['what the API writes', 'automation: !include automations.yaml\n', {}],
    ['an id that is a secret', 'automation: [{id: !secret a}]\n', {}],
    ['sections of other names', 'automations: [{id: a}]\nscripts: {a: }\n', {}],
    [
      'a package',
      'homeassistant: {packages: {p: {automation: [{id: a}], script x: {b: }}}}\n',
      { automation: ['a'], script: ['b'] },
    ],
    ['nothing', '', {}],
  ])('%s', (_, text, expected) => {
    expect(inFiles(text)).toEqual(expected);
  });

  test('packages and lists in folders', () => {
    const files = {
      'configuration.yaml':
        'homeassistant: {packages: !include_dir_named packages}\nautomation own: !include_dir_merge_list automations\nscript own: !include_dir_named scripts\nscene own: !include_dir_list scenes\n',
      'packages/hall.yaml': 'automation: !include ../hall.yaml\n',
      'hall.yaml': '- id: in_package\n',
      'automations/a.yaml': '- id: in_list\n- !include ../one.yaml\n',
      'one.yaml': 'id: included\n',
      'scripts/morning.yaml': 'sequence: []\n',
      'scenes/film.yaml': 'id: film\n',
    };
    expect(inFiles(files)).toEqual({
      automation: ['in_list', 'in_package', 'included'],
      script: ['morning'],
      scene: ['film'],
    });
  });

  test.each([
    ['long', 'a'.repeat(240)],
    ['of characters of three bytes', '高'.repeat(240)],
    ['of characters that JSON escapes', '\\u0001'.repeat(240)],
  ])('of thousands of ids that are %s, as many as fit into an annotation', (_, id) => {
    const items = Array.from({ length: 1_500 }, (__, index) => `- id: "${id}${index}"\n`);
    const definitions = inFiles(`automation:\n${items.join('')}`);
    const size = Buffer.byteLength(JSON.stringify(definitions));
    expect(size).toBeLessThan(66_000);
    expect(size).toBeGreaterThan(60_000);
  });

  test('an id that is too long is left out', () => {
    expect(inFiles(`automation:\n- id: ${'a'.repeat(300)}\n- id: b\n`)).toEqual({ automation: ['b'] });
  });

  test('of two packages of one name, the one that the hub reads last', () => {
    const files = {
      'configuration.yaml': 'homeassistant: {packages: !include_dir_named packages}\n',
      'packages/hall.yaml': 'automation: [{id: outer}]\n',
      'packages/a/hall.yaml': 'automation: [{id: inner}]\n',
      'packages/a/b/c.yaml': 'automation: [{id: deep}]\n',
    };
    expect(inFiles(files)).toEqual({ automation: ['deep', 'inner'] });
  });
});
