import type { V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { podStatus, waitingStatus } from '../../../../sandbox/node/status';

const startTime = new Date('2026-01-01T00:00:00Z');
const now = new Date('2026-01-01T01:00:00Z');

const pod = (restartPolicy = 'Always'): V1Pod => ({
  metadata: { name: 'hub-0' },
  spec: {
    restartPolicy,
    containers: [{ name: 'hub' }],
    initContainers: [{ name: 'init' }, { name: 'side', restartPolicy: 'Always' }],
  },
});

const waiting = (name: string) => waitingStatus(name, 'image', 'PodInitializing');
const running = (name: string, ready: boolean): V1ContainerStatus => ({
  ...waiting(name),
  state: { running: { startedAt: startTime } },
  started: true,
  ready,
});
const ended = (name: string, exitCode: number): V1ContainerStatus => ({
  ...waiting(name),
  state: { terminated: { exitCode } },
});
const crashing = (name: string): V1ContainerStatus => {
  const lastState: V1ContainerState = { terminated: { exitCode: 1 } };
  return { ...waiting(name), state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState };
};

const initDone = [ended('init', 0), running('side', true)];
const statusOf = (init: V1ContainerStatus[], main: V1ContainerStatus[], given = pod()) =>
  podStatus(given, { podIP: '10.244.0.2', startTime, init, main }, [], now);
const conditionsOf = (init: V1ContainerStatus[], main: V1ContainerStatus[], given = pod()) =>
  Object.fromEntries(
    (statusOf(init, main, given).conditions ?? []).map(({ type, status }) => [type, status]),
  );

describe('podStatus, waitingStatus', () => {
  test.each<[string, V1ContainerStatus[], V1ContainerStatus[], string, string]>([
    ['nothing started', [waiting('init'), waiting('side')], [waiting('hub')], 'Always', 'Pending'],
    [
      'an init container runs',
      [running('init', false), waiting('side')],
      [waiting('hub')],
      'Always',
      'Pending',
    ],
    [
      'an init container fails again and again',
      [crashing('init'), waiting('side')],
      [waiting('hub')],
      'Always',
      'Pending',
    ],
    [
      'an init container failed for good',
      [ended('init', 1), waiting('side')],
      [waiting('hub')],
      'Never',
      'Failed',
    ],
    [
      'the sidecar has not started',
      [ended('init', 0), waiting('side')],
      [waiting('hub')],
      'Always',
      'Pending',
    ],
    ['the container is about to start', initDone, [waiting('hub')], 'Always', 'Pending'],
    ['the container runs', initDone, [running('hub', false)], 'Always', 'Running'],
    ['the container crashes', initDone, [crashing('hub')], 'Always', 'Running'],
    ['the container ended and is to be restarted', initDone, [ended('hub', 0)], 'Always', 'Running'],
    [
      'its sidecar was stopped at the end',
      [ended('init', 0), ended('side', 143)],
      [ended('hub', 0)],
      'Never',
      'Succeeded',
    ],
    ['the container did its work', initDone, [ended('hub', 0)], 'OnFailure', 'Succeeded'],
    ['the container failed and is tried again', initDone, [ended('hub', 1)], 'OnFailure', 'Running'],
    ['the container failed for good', initDone, [ended('hub', 1)], 'Never', 'Failed'],
  ])('%s', (_, init, main, policy, phase) => {
    expect(statusOf(init, main, pod(policy)).phase).toBe(phase);
  });

  test('conditions follow the containers', () => {
    expect(conditionsOf([waiting('init'), waiting('side')], [waiting('hub')])).toEqual({
      PodScheduled: 'True',
      Initialized: 'False',
      ContainersReady: 'False',
      Ready: 'False',
    });
    expect(conditionsOf(initDone, [running('hub', false)])).toMatchObject({
      Initialized: 'True',
      Ready: 'False',
    });
    expect(conditionsOf(initDone, [running('hub', true)])).toMatchObject({
      ContainersReady: 'True',
      Ready: 'True',
    });
  });

  test('what is not ready is named', () => {
    const conditions = statusOf([ended('init', 0), waiting('side')], [waiting('hub')]).conditions ?? [];
    expect(conditions.find(({ type }) => type === 'Initialized')?.message).toBe(
      'containers with incomplete status: [side]',
    );
    expect(conditions.find(({ type }) => type === 'Ready')?.message).toBe(
      'containers with unready status: [hub]',
    );
  });

  test('a condition keeps its time until it changes, and those of others are kept', () => {
    const before = new Date('2026-01-01T00:30:00Z');
    const previous = [
      { type: 'Ready', status: 'False', lastTransitionTime: before },
      { type: 'Initialized', status: 'True', lastTransitionTime: before },
      { type: 'example.com/own', status: 'True' },
    ];
    const view = { podIP: '10.244.0.2', startTime, init: initDone, main: [running('hub', true)] };
    const conditions = podStatus(pod(), view, previous, now).conditions ?? [];
    const timeOf = (type: string) =>
      conditions.find((condition) => condition.type === type)?.lastTransitionTime;
    expect(timeOf('Initialized')).toBe(before);
    expect(timeOf('Ready')).toBe(now);
    expect(conditions).toContainEqual({ type: 'example.com/own', status: 'True' });
  });

  test('an init container that has done its part is ready', () => {
    const { initContainerStatuses } = statusOf([ended('init', 0), waiting('side')], [waiting('hub')]);
    expect(initContainerStatuses?.map(({ ready }) => ready)).toEqual([true, false]);
  });
});
