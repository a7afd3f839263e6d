/** Computes the status of a pod from those of its containers. All functions are pure. */
import type { V1ContainerStatus, V1Pod, V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import { NODE_ADDRESS } from './names';

/** The data of a running pod that the node has. */
interface PodView {
  podIP: string;
  startTime: Date;
  init: V1ContainerStatus[];
  main: V1ContainerStatus[];
}

/**
 * Returns the status of a container that has not been started yet. `reason` is for example ContainerCreating
 * or PodInitializing.
 */
export function waitingStatus(
  name: string,
  image: string,
  reason: string,
  message?: string,
): V1ContainerStatus {
  return {
    name,
    image,
    imageID: '',
    ready: false,
    started: false,
    restartCount: 0,
    state: { waiting: { reason, ...(message && { message }) } },
    lastState: {},
  };
}

/**
 * Returns the complete status of a pod. `previous` are the pod's current conditions: a condition with an
 * unchanged status keeps its lastTransitionTime, and conditions of other types are kept.
 */
export function podStatus(pod: V1Pod, view: PodView, previous: V1PodCondition[], now: Date): V1PodStatus {
  // Initialized stays true when a sidecar is stopped at the end of the pod.
  const initialized = view.main.some(hasRun) || view.init.every((status) => initDone(pod, status));
  const phase = podPhase(pod, view, initialized);
  const finished = phase === 'Succeeded' || phase === 'Failed';
  const uninitialized = view.init.filter((status) => !initDone(pod, status));
  const notReady = view.main.filter((status) => !status.ready);
  const ready = condition(
    notReady.length === 0 && initialized,
    phase === 'Succeeded' ? 'PodCompleted' : phase === 'Failed' ? 'PodFailed' : 'ContainersNotReady',
    finished ? '' : `containers with unready status: ${listed(notReady)}`,
  );
  const initCondition = condition(
    initialized,
    'ContainersNotInitialized',
    `containers with incomplete status: ${listed(uninitialized)}`,
  );
  const conditions = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', ...initCondition },
    { type: 'ContainersReady', ...ready },
    { type: 'Ready', ...ready },
  ];
  return {
    phase,
    conditions: keepTimes(conditions, previous, now),
    hostIP: NODE_ADDRESS,
    hostIPs: [{ ip: NODE_ADDRESS }],
    podIP: view.podIP,
    podIPs: [{ ip: view.podIP }],
    startTime: view.startTime,
    // An init container is ready when it has completed.
    initContainerStatuses: view.init.map((status) => ({ ...status, ready: initDone(pod, status) })),
    containerStatuses: view.main,
  };
}

/** Whether the init container has completed or, if it is a sidecar, has started. */
function initDone(pod: V1Pod, status: V1ContainerStatus): boolean {
  const container = pod.spec?.initContainers?.find(({ name }) => name === status.name);
  if (container?.restartPolicy === 'Always') return status.started === true;
  return status.state?.terminated?.exitCode === 0;
}

function hasRun({ state, lastState }: V1ContainerStatus): boolean {
  return !state?.waiting || lastState?.terminated !== undefined;
}

function podPhase(pod: V1Pod, { init, main }: PodView, initialized: boolean): string {
  const policy = pod.spec?.restartPolicy ?? 'Always';
  if (!initialized) {
    const failed = init.some(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
    return policy === 'Never' && failed ? 'Failed' : 'Pending';
  }
  if (main.every(({ state }) => state?.terminated) && policy !== 'Always') {
    const failed = main.some(({ state }) => state?.terminated?.exitCode !== 0);
    // With the policy OnFailure, a container that failed will be started again.
    if (!failed) return 'Succeeded';
    if (policy === 'Never') return 'Failed';
  }
  return main.every(hasRun) ? 'Running' : 'Pending';
}

function condition(isTrue: boolean, reason: string, message: string): Omit<V1PodCondition, 'type'> {
  return isTrue ? { status: 'True' } : { status: 'False', reason, ...(message && { message }) };
}

function keepTimes(ours: V1PodCondition[], previous: V1PodCondition[], now: Date): V1PodCondition[] {
  const timed = ours.map((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    const unchanged = before?.status === condition.status && before.lastTransitionTime;
    return { ...condition, lastTransitionTime: unchanged ? before.lastTransitionTime : now };
  });
  const others = previous.filter(({ type }) => !ours.some((condition) => condition.type === type));
  return [...timed, ...others] as V1PodCondition[];
}

function listed(statuses: V1ContainerStatus[]): string {
  return `[${statuses.map(({ name }) => name).join(' ')}]`;
}
