import { kinds } from '../../operator/kinds';
import { ApiServer, names, type Verdict } from './api-server';
import { externalHub, fullSample } from './full';
import { type Change, changed, places } from './places';
import { rules } from './rules';
import type { RuleCase } from './rules/rule-case';

/**
 * Tests every CEL rule: objects that it accepts, objects that it refuses, and that the refusal has the field
 * and the rule's message.
 */

let api: ApiServer;

beforeAll(async () => {
  api = await ApiServer.withKinds();
});

const named = rules.map((rule) => [`${rule.kind}: ${rule.says}`, rule] as const);

describe('when an object is created', () => {
  test.each(named.filter(([, { update }]) => !update))('%s', async (_, rule) => {
    const sample = rule.external ? externalHub : fullSample(rule.kind);
    for (const change of rule.good)
      expect({ change, ...(await api.create(changed(sample, change))) }).toMatchObject({ refusals: [] });
    for (const change of rule.bad) expectRefusal(rule, change, await api.create(changed(sample, change)));
  });
});

describe('when an object is changed', () => {
  test.each(named.filter(([, { update }]) => update))('%s', async (_, rule) => {
    const name = `changing-${rules.indexOf(rule)}`;
    const sample = changed(rule.external ? externalHub : fullSample(rule.kind), {
      'metadata.name': name,
      ...(typeof rule.update === 'object' && rule.update),
    });
    expect(await api.store(sample)).toMatchObject({ refusals: [] });
    for (const change of rule.good)
      expect({ change, ...(await api.update(changed(sample, change))) }).toMatchObject({ refusals: [] });
    for (const change of rule.bad) expectRefusal(rule, change, await api.update(changed(sample, change)));
  });
});

function expectRefusal({ field, says }: RuleCase, change: Change, verdict: Verdict): void {
  expect({ change, ...verdict, named: names(verdict, field, says) }).toMatchObject({ named: true });
}

test('every rule of the schemas is tried', () => {
  const ofKinds = kinds.flatMap(({ kind, rules: ofObject = [] }) =>
    ofObject.map(({ message }) => ({ kind, message })),
  );
  const ofPlaces = places.flatMap(({ kind, schema }) =>
    (schema['x-kubernetes-validations'] ?? []).map(({ message }) => ({ kind, message })),
  );
  const untried = [...ofKinds, ...ofPlaces].filter(
    ({ kind, message }) => !rules.some((rule) => rule.kind === kind && message.includes(rule.says)),
  );
  expect(untried).toEqual([]);
  for (const { good, bad } of rules) expect(Math.min(good.length, bad.length)).toBeGreaterThan(0);
});
