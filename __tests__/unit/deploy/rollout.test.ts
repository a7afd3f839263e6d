import { type Deployment, isRolledOut, type Pod, waitingReasons } from '../../../deploy/rollout';

const deployment = (status: NonNullable<Deployment['status']>, replicas = 1): Deployment => ({
  metadata: { generation: 2 },
  spec: { replicas },
  status: { observedGeneration: 2, ...status },
});
const pod = (status: NonNullable<Pod['status']>): Pod => ({ metadata: { name: 'p' }, status });
const waiting = (reason: string, message?: string) => ({
  name: 'operator',
  state: { waiting: { reason, ...(message !== undefined && { message }) } },
});
const complete = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };

describe('isRolledOut', () => {
  test.each([
    ['all pods are new and available', complete, true],
    ['the controller has not seen the spec', { ...complete, observedGeneration: 1 }, false],
    ['a former pod is left', { ...complete, replicas: 2 }, false],
    ['the new pod is not available', { ...complete, availableReplicas: 0 }, false],
    ['there is no pod', {}, false],
  ])('when %s', (_, status, expected) => {
    expect(isRolledOut(deployment(status))).toBe(expected);
  });

  test('a Deployment that is scaled to 0 is rolled out without a pod', () => {
    expect(isRolledOut(deployment({}, 0))).toBe(true);
  });
});

describe('waitingReasons', () => {
  const cases: readonly [string, NonNullable<Pod['status']>, string[]][] = [
    ['a ready pod', { conditions: [{ type: 'Ready', status: 'True' }] }, []],
    [
      'an image that cannot be pulled',
      { containerStatuses: [waiting('ErrImagePull', 'not found')] },
      ['Pod p, container operator: ErrImagePull: not found.'],
    ],
    [
      'a container that ends',
      {
        containerStatuses: [
          {
            ...waiting('CrashLoopBackOff'),
            lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
          },
        ],
      },
      ['Pod p, container operator: CrashLoopBackOff. It ended with 137 (OOMKilled).'],
    ],
    [
      'no room on a node',
      { conditions: [{ type: 'PodScheduled', status: 'False', message: 'no nodes available' }] },
      ['Pod p is not scheduled: no nodes available'],
    ],
    [
      'a container that is being created',
      { phase: 'Pending', containerStatuses: [waiting('ContainerCreating')] },
      ['Pod p is Pending.'],
    ],
    ['a pod that is not ready', { phase: 'Running' }, ['Pod p runs and is not ready.']],
  ];

  test.each(cases)('of %s', (_, status, expected) => {
    expect(waitingReasons(deployment({}), [pod(status)])).toEqual(expected);
  });

  test('of a pod that is not created are those of the Deployment', () => {
    const refused = { type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' };
    expect(waitingReasons(deployment({ conditions: [refused] }), [])).toEqual([
      'The pod is not created: exceeded quota',
    ]);
  });

  test('a pod that is being deleted is left out', () => {
    const leaving = { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:00:00Z' }, status: {} };
    expect(waitingReasons(deployment({}), [leaving])).toEqual([]);
  });
});
