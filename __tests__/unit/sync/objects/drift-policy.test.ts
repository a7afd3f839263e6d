import { type Corrected, DriftPolicy } from '../../../../operator/sync/objects/drift-policy';
import type { Child } from '../../../../operator/sync/objects/child';
import { objectMetadata } from '../../object-metadata';
import { services } from '../fixtures';

describe('DriftPolicy', () => {
  const counted: string[] = [];
  const policy = new DriftPolicy(
    services({ metrics: { countDrift: (kind, action) => void counted.push(`${kind} ${action}`) } }),
    { kind: 'HubFloor' },
  );

  beforeEach(() => counted.splice(0));

  test('each correction is an event and is counted', () => {
    const event = { type: 'Warning', reason: 'DriftDetected', message: 'It is changed back.' };
    expect(policy.reportCorrected('It is changed back.')).toEqual(event);
    expect(counted).toEqual(['HubFloor corrected']);
  });

  test('drift that is left is counted when it is found, not at each observation', () => {
    const floor = (reason: string): Child => ({
      apiVersion: 'hub-operator.dev/v1',
      kind: 'HubFloor',
      metadata: { ...objectMetadata, name: 'attic', uid: '1' },
      spec: { hubRef: { name: 'villa' } },
      status: {
        conditions: [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: '' }],
      },
    });
    const found = policy.reportLeft(floor('FloorRegistered'), 'It stays so.');
    expect(found).toMatchObject({ type: 'Stalled', reason: 'DriftDetected', message: 'It stays so.' });
    policy.reportLeft(floor(found.reason), 'It stays so.');
    expect(counted).toEqual(['HubFloor reported']);
  });

  describe('of a correction with two writes', () => {
    const floor: Child = {
      apiVersion: 'hub-operator.dev/v1',
      kind: 'HubFloor',
      metadata: { ...objectMetadata, name: 'attic', uid: '1' },
      spec: { hubRef: { name: 'villa' } },
    };
    const isLeft = (cached: Corrected, key: string) => {
      const difference = { change: '', drifted: true, left: '', correction: { key, text: '' } };
      return policy.leave(floor, cached, difference) !== undefined;
    };

    test('the first one is counted', () => {
      const cached: Corrected = {};
      for (let time = 0; time < 3; time++) {
        expect(isLeft(cached, 'both')).toBe(false);
        policy.begin(cached, 'both');
        expect(isLeft(cached, 'second')).toBe(false);
        policy.count(cached, 'second');
      }
      expect(isLeft(cached, 'both')).toBe(true);
    });

    test.each([
      ['ended', (cached: Corrected) => policy.count(cached, 'second')],
      ['is no longer needed', (cached: Corrected) => policy.clear(cached)],
    ])('later ones are counted by themselves after it %s', (_, end) => {
      const cached: Corrected = {};
      policy.begin(cached, 'both');
      end(cached);
      for (let time = 0; time < 3; time++) policy.count(cached, 'other');
      expect(isLeft(cached, 'other')).toBe(true);
    });
  });
});
