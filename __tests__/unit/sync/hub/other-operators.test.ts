import type { Hub } from '../../../../operator/kinds';
import { conditionOf } from '../../../../operator/runtime/conditions';
import { OtherOperators } from '../../../../operator/sync/hub/other-operators';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import { aHub, aHubContext, services } from '../fixtures';

const MINUTE = 60_000;
const SENTENCE = /The operators with the leases a\/hub-operator and b\/hub-operator work on this Hub/;

let clock: ManualClock;
let hub: Hub;

beforeEach(() => {
  clock = new ManualClock();
  hub = aHub();
});

/**
 * An operator, identified by the namespace of its lease. Its reconcile writes the list to the Hub, and
 * returns the sentence.
 */
function operator(podNamespace: string) {
  const cache = { get: () => hub as never };
  const settings = { podNamespace, leaseName: 'hub-operator' };
  const others = new OtherOperators(services({ cache, clock, log: silentLog, settings }));
  return () => {
    const context = aHubContext(hub);
    const sentence = others.report(context);
    hub = withLeases(context.conditions['OnlyOperator']!.message);
    return sentence;
  };
}
const listed = () => conditionOf(hub, 'OnlyOperator')?.message.split(', ');

function withLeases(message: string): Hub {
  return aHub({ status: { conditions: [{ ...aCondition, message }] } });
}
const aCondition = {
  type: 'OnlyOperator',
  status: 'True' as const,
  reason: 'OneOperator',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

test('a single operator names itself in the list, and reports nothing', () => {
  const reconcile = operator('a');
  expect([reconcile(), reconcile()]).toEqual([undefined, undefined]);
  expect(listed()).toEqual(['a/hub-operator']);
});

test('two operators name each other in one sentence and one list, in any order of reconciles', () => {
  const [first, second] = [operator('b'), operator('a')];
  first();
  expect(second()).toBeUndefined(); // the second operator may have replaced the first
  for (let round = 0; round < 3; round++) {
    for (const reconcile of [first, second]) {
      expect(reconcile()).toMatch(SENTENCE);
      expect(listed()).toEqual(['a/hub-operator', 'b/hub-operator']);
    }
  }
});

test('an operator that was replaced by one of another name is forgotten immediately', () => {
  operator('b')();
  const reconcile = operator('a');
  expect([reconcile(), reconcile()]).toEqual([undefined, undefined]);
  expect(listed()).toEqual(['a/hub-operator']);
});

test('an operator that is uninstalled beside another is forgotten within half an hour', async () => {
  const [first, second] = [operator('a'), operator('b')];
  first();
  second();
  expect(first()).toMatch(SENTENCE);
  await clock.advance(15 * MINUTE);
  expect(first()).toMatch(SENTENCE);
  expect(listed()).toEqual(['a/hub-operator']);
  await clock.advance(15 * MINUTE);
  expect(first()).toBeUndefined();
});

test('an operator that continues beside another is named all the time', async () => {
  const [first, second] = [operator('a'), operator('b')];
  first();
  second();
  for (let round = 0; round < 9; round++) {
    for (const reconcile of [first, second]) expect(reconcile()).toMatch(SENTENCE);
    await clock.advance(10 * MINUTE);
  }
});

test('the list is bounded, and includes the operator itself', () => {
  const many = Array.from('bcdefghi', (each) => `${each}/x`).join(', ');
  hub = withLeases(many);
  const reconcile = operator('z');
  reconcile();
  hub = withLeases(many);
  reconcile();
  expect(listed()).toHaveLength(4);
  expect(listed()).toContain('z/hub-operator');
});
