import { parseJson } from '../../../operator/runtime/json';
import { secretUses } from '../../../operator/sync/configuration/generate/secret-uses';
import { warningsOf } from '../../../operator/webhook/review';
import { definitionOf, FakeClusterState, ours } from './requests';

const warnings = (kind: string, spec: object, state = new FakeClusterState()) =>
  warningsOf(ours(kind, 'one', spec), definitionOf(kind), state, secretUses);

const withSecrets = (...keys: string[]) => {
  const state = new FakeClusterState();
  state.secrets = {
    values: new Map(keys.map((key) => [key, 'hunter2'])),
    kept: new Set(),
    hash: '',
    salt: '',
  };
  return state;
};

describe('warningsOf', () => {
  test('an integer beyond 2^53 would lose digits, in every kind', () => {
    const data = parseJson('{"chat_id": 9007199254740993}') as object;
    const expected = [
      'spec.data.chat_id is the integer 9007199254740993, which is beyond 2^53 and would lose digits. Quote it: "9007199254740993".',
    ];
    expect(warnings('HubAutomation', { data })).toEqual(expected);
    expect(warnings('HubIntegration', { data })).toEqual(expected);
  });

  test('a resource that is too large gets only this warning, since its other parts are missing', () => {
    const large = { ...ours('HubAutomation', 'one', { triggers: [] }), omitted: ['spec.triggers'] };
    expect(warningsOf(large, definitionOf('HubAutomation'), new FakeClusterState(), secretUses)).toEqual([
      expect.stringContaining('spec.triggers cannot be processed'),
    ]);
  });

  test('an unquoted state is not text', () => {
    const spec = { triggers: [{ trigger: 'state', to: true }] };
    expect(warnings('HubAutomation', spec)).toEqual([
      'spec.triggers[0].to is the boolean true, and the hub wants text: quote on, off, yes, no, true and false.',
    ]);
    expect(warnings('HubIntegration', spec)).toEqual([]);
    // A scene has no triggers and no conditions, and its attributes may have any type.
    const attributes = { condition: 'state', state: 1 };
    expect(warnings('HubScene', { entities: [{ entity_id: 'light.a', state: 'on', attributes }] })).toEqual(
      [],
    );
  });

  test('a URL of the recorder beside its Secret has no effect', () => {
    const recorder = { database: 'sqlite:////config/a.db', databaseSecretRef: { name: 'db', key: 'url' } };
    expect(warnings('HubConfiguration', { recorder })).toEqual([
      'spec.recorder has database and databaseSecretRef, and the Secret is used: remove database.',
    ]);
  });

  test('a key of !secret that the HubSecrets does not provide is named with its place', () => {
    const spec = {
      configuration: 'sensor: !secret a\n# !secret comment\nlight: !secret b\n',
      files: { 'mqtt.yaml': 'password: !secret c\n' },
    };
    expect(warnings('HubConfiguration', spec, withSecrets('a'))).toEqual([
      'spec.configuration, line 3, column 16: no HubSecrets of the Hub villa gives the key b of !secret: add it to one.',
      'spec.files[mqtt.yaml], line 1, column 19: no HubSecrets of the Hub villa gives the key c of !secret: add it to one.',
    ]);
    expect(warnings('HubConfiguration', spec, withSecrets('a', 'b', 'c'))).toEqual([]);
  });

  test('without a HubSecrets there is no warning: it may be applied next', () => {
    expect(warnings('HubConfiguration', { configuration: 'a: !secret b\n' })).toEqual([]);
  });

  test('a configuration that is not YAML is left to the reconciliation', () => {
    expect(warnings('HubConfiguration', { configuration: 'a: [!secret b\n' }, withSecrets('a'))).toEqual([]);
  });

  test('a value of a secret is in no warning', () => {
    const spec = { configuration: 'a: !secret b\n' };
    expect(JSON.stringify(warnings('HubConfiguration', spec, withSecrets('a')))).not.toContain('hunter2');
  });
});
