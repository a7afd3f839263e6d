import { automations } from '../../../../operator/sync/config-entities/automation';
import { diff, hashOf } from '../../../../operator/sync/config-entities/diff';
import { scenes } from '../../../../operator/sync/config-entities/scene';
import { scripts } from '../../../../operator/sync/config-entities/script';
import {
  automationSpecOf,
  sceneSpecOf,
  scriptSpecOf,
} from '../../../../operator/sync/config-entities/spec-of';
import { resource } from '../../resource';
import {
  different,
  differentBesideBlueprint,
  equalBesideBlueprint,
  equalByRun,
  equalByValidation,
  type Row,
} from './equal-definitions';

const types = { automation: automations, scene: scenes, script: scripts };
const named = (rows: readonly Row[]) => rows.map((row) => [`${row.kind}: ${row.what}`, row] as const);
const differences = ({ kind, forms }: Row) => forms.map((form) => diff(types[kind], 'a', form, forms[0]));

describe('equal', () => {
  test.each(named([...equalByValidation, ...equalByRun, ...equalBesideBlueprint]))('%s', (_, row) => {
    for (const found of differences(row)) expect(found).toEqual([]);
    const hashes = new Set(row.forms.map((form) => hashOf(types[row.kind], 'a', form)));
    expect(hashes.size).toBe(1);
  });

  test('the alias of a script without one is its id', () => {
    expect(diff(scripts, 'good_night', { sequence: [] }, { alias: 'good_night', sequence: [] })).toEqual([]);
    expect(diff(automations, 'a', { triggers: [], actions: [] }, { alias: 'a' })).not.toEqual([]);
  });

  test('a key of a blueprint’s input may have any name', () => {
    const forms = [{ service: 'a' }, { action: 'a' }].map((input) => ({
      use_blueprint: { path: 'x', input },
    }));
    expect(diff(automations, 'a', forms[0]!, forms[1]!)).not.toEqual([]);
  });
});

describe('the spec that describes a definition of the hub', () => {
  const rows = [
    equalByValidation,
    equalByRun,
    equalBesideBlueprint,
    different,
    differentBesideBlueprint,
  ].flat();
  const inverses = { automation: automationSpecOf, scene: sceneSpecOf, script: scriptSpecOf };

  test.each(named(rows))('has an equal payload: %s', (_, { kind, forms }) => {
    for (const form of forms) {
      const spec = { hubRef: { name: 'villa' }, ...inverses[kind](form, 'a') };
      const type = types[kind] as unknown as typeof automations;
      const payload = type.payload(type.spec(resource('a', spec) as never));
      expect(diff(type, 'a', form, payload)).toEqual([]);
    }
  });
});

describe('different', () => {
  test.each(named([...different, ...differentBesideBlueprint]))('%s', (_, row) => {
    const [, ...found] = differences(row);
    for (const each of found) expect(each).not.toEqual([]);
  });
});
