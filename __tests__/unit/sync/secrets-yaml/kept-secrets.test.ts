import { configurationInUse } from '../../../../operator/sync/configuration/record/recorder-secret';
import { valuesToKeep } from '../../../../operator/sync/secrets-yaml/values-in-use';
import { readSecretsYaml, writeSecretsYaml } from '../../../../operator/sync/secrets-yaml/secrets-yaml';
import { services } from '../fixtures';

const before = readSecretsYaml(
  writeSecretsYaml(
    new Map([
      ['login', 'a'],
      ['old', 'b'],
      ['unused', 'c'],
    ]),
    'salt',
  ).text,
);

async function keep(
  configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>,
  given: readonly string[],
) {
  const asked: string[] = [];
  const find = (_type: unknown, _namespace: string, name: string) => {
    asked.push(name);
    return Promise.resolve(configMaps[name] && ({ metadata: { name }, data: configMaps[name] } as never));
  };
  const values = new Map(given.map((key) => [key, 'x']));
  const inUse = configurationInUse(services({ applier: { find } }));
  const kept = await valuesToKeep(inUse, 'home', 'villa', before, values);
  return { kept: Object.fromEntries(kept), asked };
}

describe('valuesToKeep', () => {
  test.each([
    ['published', 'villa-configuration'],
    ['accepted', 'villa-configuration-accepted'],
  ])('a value that the %s configuration uses is kept, and no other one', async (_, name) => {
    const files = {
      'configuration.yaml': 'a: !include b.yaml\n',
      'b.yaml': '- !secret old\n',
      '.loaded': '{',
    };
    expect((await keep({ [name]: files }, ['login'])).kept).toEqual({ old: 'b' });
  });

  test('nothing is kept for a configuration that uses none', async () => {
    expect(
      (await keep({ 'villa-configuration': { 'configuration.yaml': 'a: !secret login\n' } }, ['login'])).kept,
    ).toEqual({});
  });

  test('the configuration is not read while all keys are given', async () => {
    expect(await keep({}, ['login', 'old', 'unused', 'more'])).toEqual({ kept: {}, asked: [] });
  });
});
