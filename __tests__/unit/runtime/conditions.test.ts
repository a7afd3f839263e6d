import type { Condition } from '../../../operator/kinds';
import {
  conditionsAfter,
  conditionsAfterError,
  conditionsWhileSuspended,
} from '../../../operator/runtime/conditions';
import { type Outcome, ready, stalled, waiting } from '../../../operator/runtime/outcome';
import fc from '../../fast-check';

const T1 = '2026-01-01T00:00:01Z';
const T2 = '2026-01-01T00:00:02Z';

const byType = (conditions: readonly Condition[]) =>
  Object.fromEntries(conditions.map((each) => [each.type, each]));

describe('conditionsAfter', () => {
  test.each<[Outcome, Record<string, string>]>([
    [ready('AutomationGenerated', 'ok'), { Ready: 'True' }],
    [waiting('HubNotReady', 'soon', 1_000), { Ready: 'False', Reconciling: 'True' }],
    [stalled('InvalidSpec', 'no'), { Ready: 'False', Stalled: 'True' }],
  ])('Ready is always present, Reconciling and Stalled only while they are True: %o', (outcome, expected) => {
    const conditions = conditionsAfter([], outcome, 7, T1);
    expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toEqual(expected);
    for (const condition of conditions) {
      expect(condition).toMatchObject({
        reason: outcome.reason,
        message: outcome.message,
        observedGeneration: 7,
      });
    }
  });

  test('lastTransitionTime moves only when the status changes', () => {
    const first = conditionsAfter([], waiting('HubNotFound', 'none', 1), 1, T1);
    const second = conditionsAfter(first, stalled('InvalidSpec', 'worse'), 2, T2);
    expect(byType(second)['Ready']).toMatchObject({
      lastTransitionTime: T1,
      reason: 'InvalidSpec',
      observedGeneration: 2,
    });
    expect(byType(second)['Stalled']).toMatchObject({ lastTransitionTime: T2 });
    const third = conditionsAfter(second, ready('AutomationGenerated', 'ok'), 2, T2);
    expect(byType(third)['Ready']).toMatchObject({ lastTransitionTime: T2 });
  });

  test('further conditions are added, stay when they are not mentioned, and are removed by null', () => {
    const extra = { status: 'True', reason: 'Bound', message: 'bound' } as const;
    const first = conditionsAfter(
      [],
      ready('AutomationGenerated', 'ok', { conditions: { StorageReady: extra } }),
      1,
      T1,
    );
    const second = conditionsAfter(first, ready('AutomationGenerated', 'ok'), 1, T2);
    expect(second).toEqual(first);
    const third = conditionsAfter(
      second,
      ready('AutomationGenerated', 'ok', { conditions: { StorageReady: null } }),
      1,
      T2,
    );
    expect(third.map(({ type }) => type)).toEqual(['Ready']);
  });

  test('an error is reported, and Reconciling says that it is retried', () => {
    const before = conditionsAfter([], stalled('InvalidSpec', 'no'), 1, T1);
    const after = byType(conditionsAfterError(before, { reason: 'InternalError', message: 'boom' }, 2, T2));
    expect(after['Ready']).toMatchObject({ status: 'False', reason: 'InternalError', message: 'boom' });
    expect(after['Reconciling']).toMatchObject({ status: 'True', reason: 'InternalError' });
    expect(after['Stalled']).toBeUndefined();
  });

  test('while suspended Ready keeps its last value, and Suspended is removed afterwards', () => {
    const before = conditionsAfter([], ready('AutomationGenerated', 'ok'), 1, T1);
    const suspended = conditionsWhileSuspended(before, 2, T2);
    expect(byType(suspended)['Ready']).toEqual(byType(before)['Ready']);
    expect(byType(suspended)['Suspended']).toMatchObject({ status: 'True', reason: 'Suspended' });
    expect(conditionsAfter(suspended, ready('AutomationGenerated', 'ok'), 1, T2)).toEqual(before);
  });

  test('a resource that was suspended before its first reconcile has Ready=Unknown', () => {
    const [first] = conditionsWhileSuspended([], 1, T1);
    expect(first).toMatchObject({ type: 'Ready', status: 'Unknown', reason: 'Suspended' });
  });

  test('the text of an error is a sentence in a condition', () => {
    const [condition] = conditionsAfter([], waiting('HubBanned', 'the hub has banned us', 1), 1, T1);
    expect(condition!.message).toBe('The hub has banned us');
  });

  test('a message that is too long is truncated', () => {
    const [condition] = conditionsAfter([], stalled('RejectedByHub', 'x'.repeat(100_000)), 1, T1);
    expect(condition!.message.length).toBeLessThanOrEqual(32_768);
  });

  const outcome = fc.constantFrom<Outcome>(
    ready('AutomationGenerated', 'ok'),
    ready('AutomationGenerated', 'ok', {
      conditions: { ReloadReady: { status: 'True', reason: 'ReloadSuccessful', message: 'reloaded' } },
    }),
    waiting('HubNotReady', 'soon', 1),
    stalled('InvalidSpec', 'no'),
  );

  test('Ready is first, each type is present once, and the same outcome again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(outcome, { minLength: 1, maxLength: 6 }), (outcomes) => {
        const conditions = outcomes.reduce<Condition[]>(
          (before, each) => conditionsAfter(before, each, 1, T1),
          [],
        );
        expect(conditions[0]?.type).toBe('Ready');
        expect(new Set(conditions.map(({ type }) => type)).size).toBe(conditions.length);
        expect(conditionsAfter(conditions, outcomes.at(-1)!, 1, T2)).toEqual(conditions);
      }),
    );
  });
});
