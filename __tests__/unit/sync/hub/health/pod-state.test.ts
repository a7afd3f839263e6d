import type { Pod } from '../../../../../operator/sync/hub-pod/owned-objects';
import { podProblem, podState } from '../../../../../operator/sync/hub/health/pod-state';
import { ManualClock } from '../../../manual-clock';
import { aHub, services } from '../../fixtures';

const pod = (status: Pod['status'], metadata: object = {}): Pod => ({
  metadata: { name: 'villa-0', ...metadata },
  ...(status && { status }),
});
const container = (state: object, lastState: object = {}) => ({ name: 'hub', state, lastState });

describe('podProblem', () => {
  test.each<[string, Pod, string | undefined]>([
    ['new', pod({}), undefined],
    [
      'starting',
      pod({ containerStatuses: [container({ waiting: { reason: 'PodInitializing' } })] }),
      undefined,
    ],
    ['being replaced', pod({}, { deletionTimestamp: 'now' }), 'Pod villa-0 is being replaced.'],
    [
      'unschedulable',
      pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available.' }] }),
      'Pod villa-0 cannot be scheduled: 0/1 nodes are available.',
    ],
    [
      'evicted',
      pod({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' }),
      'Pod villa-0 failed: Evicted: low on memory',
    ],
    ...(
      [
        [
          { result: 'refused', problems: [{ kind: 'error', text: 'Invalid config at line 3' }] },
          'The hub would not load this configuration: Invalid config at line 3',
        ],
        [{ result: 'missing' }, 'There is no configuration: create a HubConfiguration for this Hub.'],
        [
          { result: 'downgrade', version: '2026.1.0', ran: '2026.11.0' },
          '2026.11.0 has run on this volume, and 2026.1.0 is older: it may not be able to read what is there. Set spec.version to 2026.11.0 or later, or restore a backup and annotate the Hub with hub-operator.dev/allow-downgrade=true.',
        ],
      ] as const
    ).map(([report, words]): [string, Pod, string] => [
      `at an end of prepare-config, ${report.result}, in words`,
      pod({
        initContainerStatuses: [
          {
            name: 'prepare-config',
            state: { terminated: { exitCode: 1, reason: 'Error', message: JSON.stringify(report) } },
          },
        ],
      }),
      `Container prepare-config ended with 1: ${words}`,
    ]),
    [
      'waiting for an image that cannot be pulled',
      pod({
        containerStatuses: [
          container({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x"' } }),
        ],
      }),
      'Container hub: ImagePullBackOff: Back-off pulling image "x"',
    ],
    [
      'killed for its memory, by the reason instead of the log’s last line',
      pod({
        containerStatuses: [
          container(
            { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
            { terminated: { exitCode: 137, reason: 'OOMKilled', message: 'Killed\n' } },
          ),
        ],
      }),
      'Container hub was killed because it needed more memory than its limit (OOMKilled): raise spec.resources.limits.memory.',
    ],
    [
      'crashing, by the message of its container instead of the back-off',
      pod({
        containerStatuses: [
          container(
            { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
            { terminated: { exitCode: 1, message: 'no\n' } },
          ),
        ],
      }),
      'Container hub ended with 1: no',
    ],
    [
      'starting after an init container failed once',
      pod({
        initContainerStatuses: [
          container({ terminated: { exitCode: 0 } }, { terminated: { exitCode: 1, message: 'once' } }),
        ],
        containerStatuses: [container({ waiting: { reason: 'PodInitializing' } })],
      }),
      undefined,
    ],
  ])('describes a pod that is %s', (_, object, words) => expect(podProblem(object)).toBe(words));
});

describe('podState', () => {
  const state = (present: Pod) =>
    podState(
      services({
        cache: { get: () => present as never },
        cluster: { request: <T>() => Promise.resolve({ items: [] } as T) },
        secrets: { get: () => Promise.resolve(undefined) },
      }),
      aHub(),
    );

  test.each<[string, Pod, string]>([
    ['that is being deleted', pod({}, { deletionTimestamp: 'now' }), 'replacement'],
    [
      'that starts in place of another',
      pod({ containerStatuses: [container({ waiting: {} })] }),
      'replacement',
    ],
    ['that failed', pod({ phase: 'Failed' }), 'fault'],
    [
      'whose container ended',
      pod({ containerStatuses: [{ ...container({ terminated: { exitCode: 1 } }), restartCount: 1 }] }),
      'fault',
    ],
    [
      'that was ready and stopped answering',
      pod({ containerStatuses: [{ ...container({}), started: true }] }),
      'fault',
    ],
  ])('distinguishes a replacement from a fault: a pod %s', async (_, present, cause) => {
    expect(await state(present)).toMatchObject({ ready: false, cause });
  });

  describe('of a pod whose node is lost', () => {
    const conditions = (ready: object) => [
      { type: 'Ready', ...ready },
      { type: 'ContainersReady', status: 'True' },
    ];
    // The state in which the controllers of Kubernetes 1.36 leave the pod (__tests__/node/node-loss.test.ts).
    const running = { name: 'hub', ready: true, started: true, restartCount: 0, state: { running: {} } };
    const lost = { conditions: conditions({ status: 'False' }), containerStatuses: [running] };
    const onNode = (status: Pod['status'], metadata?: object): Pod => ({
      ...pod(status, metadata),
      spec: { containers: [], nodeName: 'attic' },
    });

    test('names the node and the remedy', async () => {
      expect(await state(onNode(lost))).toEqual({
        ready: false,
        cause: 'node',
        isDowngrade: false,
        message:
          'The node attic of pod villa-0 is not ready or does not answer. Delete the node if it is gone for good.',
      });
    });

    test.each(['now', '2000-01-01T00:00:00Z'])(
      'reports the same after its eviction at %s',
      async (deletionTimestamp) => {
        const evicted = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };
        const status = { ...lost, conditions: [...lost.conditions, evicted] };
        expect(await state(onNode(status, { deletionTimestamp }))).toMatchObject({
          cause: 'node',
          message:
            'Pod villa-0 is to be replaced, and node attic does not end it: the node is not ready or does not answer. Delete the node if it is gone for good.',
        });
      },
    );

    test('does not take reports of a kubelet for a lost node', async () => {
      const notReady = { status: 'False', reason: 'ReadinessGatesNotReady', message: 'the gate is closed' };
      const says = (status: Pod['status']) => state(onNode(status));
      expect(await says({ ...lost, conditions: conditions(notReady) })).toMatchObject({ cause: 'fault' });
      const waiting = [{ ...running, ready: false, started: false }];
      expect(await says({ ...lost, containerStatuses: waiting })).toMatchObject({ cause: 'replacement' });
    });
  });

  describe('of a pod that stays Terminating', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    async function stateAfter(minutes: number, present: Pod, items: object[] = []) {
      const clock = new ManualClock();
      await clock.advance(minutes * 60_000);
      const given = services({
        clock,
        cache: { get: () => present as never },
        cluster: { request: <T>() => Promise.resolve({ items } as T) },
        secrets: { get: () => Promise.resolve(undefined) },
      });
      return podState(given, aHub());
    }
    const ended = [container({ terminated: { exitCode: 0 } })];

    test.each<[string, Pod, RegExp]>([
      [
        'a finalizer',
        pod({ containerStatuses: ended }, { deletionTimestamp, finalizers: ['example.org/guard'] }),
        /^Pod villa-0 should have ended at 2026-01-01T00:00:00Z\. Its finalizers hold it: example\.org\/guard\. /,
      ],
      [
        'a container',
        pod({ containerStatuses: [container({ running: {} })] }, { deletionTimestamp }),
        /Its node has not ended the container hub\. Delete the node if it is gone for good\./,
      ],
      [
        'an init container',
        pod(
          { initContainerStatuses: [{ ...container({ running: {} }), name: 'prepare-config' }] },
          { deletionTimestamp },
        ),
        /Its node has not ended the container prepare-config\./,
      ],
      [
        'a volume',
        pod({ containerStatuses: ended }, { deletionTimestamp }),
        /may be unable to release a volume\./,
      ],
    ])('has the time since when, and that %s holds it', async (_, present, words) => {
      expect(await stateAfter(1.9, present)).toEqual({
        ready: false,
        isDowngrade: false,
        cause: 'replacement',
        message: 'Pod villa-0 is being replaced.',
      });
      const state = await stateAfter(2, present);
      expect(state).toMatchObject({
        ready: false,
        cause: 'fault',
        message: expect.stringMatching(words),
      });
      expect(await stateAfter(60, present)).toEqual(state);
    });

    test('adds the latest warning about it', async () => {
      const warning = {
        type: 'Warning',
        reason: 'FailedKillPod',
        message: 'cannot unmount',
        metadata: { creationTimestamp: deletionTimestamp },
      };
      const present = pod({ containerStatuses: ended }, { deletionTimestamp });
      expect(await stateAfter(2, present, [warning])).toMatchObject({
        message: expect.stringMatching(/ FailedKillPod: cannot unmount$/),
      });
    });
  });

  test('masks the secrets of the hub in the last output of a container', async () => {
    const terminated = { exitCode: 1, message: "cannot log in to the broker with 'tulip-bulb'" };
    const given = services({
      cache: { get: () => pod({ containerStatuses: [container({ terminated })] }) as never },
      secrets: { get: () => Promise.resolve(new Map([['secrets.yaml', 'broker: tulip-bulb\n']])) },
    });
    expect(await podState(given, aHub())).toMatchObject({
      message: "Container hub ended with 1: cannot log in to the broker with '***'",
    });
  });

  const rejected = {
    type: 'Warning',
    reason: 'FailedCreate',
    message: 'exceeded quota',
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
  };
  test.each([
    ['has not created the next pod yet', [], 'Pod villa-0 does not exist yet.', 'replacement'],
    [
      'may not create the next pod',
      [rejected],
      'Pod villa-0 does not exist yet: FailedCreate: exceeded quota',
      'fault',
    ],
  ])(
    'distinguishes a replacement from a fault: the StatefulSet controller %s',
    async (_, items, message, cause) => {
      const set = { metadata: { name: 'villa', namespace: 'home', uid: 'set' } };
      const given = services({
        cache: { get: (kind: string) => (kind === 'StatefulSet' ? set : undefined) as never },
        cluster: { request: <T>() => Promise.resolve({ items } as T) },
        secrets: { get: () => Promise.resolve(undefined) },
      });
      expect(await podState(given, aHub())).toEqual({
        ready: false,
        message,
        cause,
        isDowngrade: false,
      });
    },
  );
});
