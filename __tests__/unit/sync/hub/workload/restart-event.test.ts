import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import type { StatefulSet } from '../../../../../operator/sync/hub-pod/owned-objects';
import { restartEvent } from '../../../../../operator/sync/hub/workload/rollouts';

const { configHash, secretsHash, communityHash } = operatorAnnotations;

const set = (annotations: Readonly<Record<string, string>>, spec: object = {}) =>
  ({ metadata: { name: 'villa' }, spec: { template: { metadata: { annotations }, spec } } }) as StatefulSet;

const before = set({ [configHash]: '1', [secretsHash]: '1' });
const [reported, edited] = [false, true];

describe('restartEvent', () => {
  test.each([
    ['its configuration', reported, set({ [configHash]: '2', [secretsHash]: '1' })],
    ['its secrets', reported, set({ [configHash]: '1', [secretsHash]: '2' })],
    [
      'its community integrations',
      reported,
      set({ [configHash]: '1', [secretsHash]: '1', [communityHash]: '1' }),
    ],
    ['its configuration and its secrets', reported, set({ [configHash]: '2' })],
    ['its spec', edited, set({ [configHash]: '1', [secretsHash]: '1' }, { hostNetwork: true })],
  ])('names %s', (cause, isNewSpec, after) => {
    expect(restartEvent(isNewSpec, before, after)).toEqual({
      type: 'Normal',
      reason: 'HubRestarting',
      message: `The hub restarts, since ${cause} changed.`,
    });
  });

  test('names the version of the operator if no user has changed anything', () => {
    const after = set({ [configHash]: '1', [secretsHash]: '1' }, { dnsPolicy: 'Default' });
    expect(restartEvent(reported, before, after)?.message).toBe(
      'The hub restarts, since this version of the operator has another pod for it.',
    );
  });

  test('is absent for an unchanged template', () => {
    expect(restartEvent(edited, before, set({ [configHash]: '1', [secretsHash]: '1' }))).toBeUndefined();
  });
});
