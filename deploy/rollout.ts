import { setTimeout as sleep } from 'node:timers/promises';
import { NAMESPACE, OPERATOR } from '../manifests/names';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';
import { CommandError } from './command-error';
import type { Kubectl } from './kubectl';

const POLL = 1_000; // milliseconds
const LOG_LINES = 10;

export interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly reason?: string; readonly exitCode: number };
}

export interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly state?: ContainerState;
      readonly lastState?: ContainerState;
    }[];
  };
}

/** Whether the present spec of the Deployment runs in all its pods, and nothing else does. */
export function isRolledOut({ metadata, spec, status = {} }: Deployment): boolean {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const desired = spec.replicas ?? 1;
  return (
    observedGeneration >= metadata.generation &&
    updatedReplicas >= desired &&
    replicas === updatedReplicas &&
    availableReplicas >= updatedReplicas
  );
}

/** The messages of the cluster about the rollout: one sentence for each pod that is not ready. */
export function waitingReasons({ status }: Deployment, pods: readonly Pod[]): string[] {
  const refused = status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  return [
    ...(refused ? [`The pod is not created: ${refused.message ?? refused.reason}`] : []),
    ...pods.filter(({ metadata }) => !metadata.deletionTimestamp).flatMap(podReason),
  ];
}

function podReason({ metadata: { name }, status = {} }: Pod): string[] {
  const condition = (type: string) => status.conditions?.find((each) => each.type === type);
  if (condition('Ready')?.status === 'True') return [];
  for (const { name: container, state, lastState } of status.containerStatuses ?? []) {
    const { reason, message } = state?.waiting ?? {};
    if (reason === undefined || reason === 'ContainerCreating') continue;
    const ended = lastState?.terminated;
    const before = ended ? ` It ended with ${ended.exitCode} (${ended.reason ?? 'no reason'}).` : '';
    return [`Pod ${name}, container ${container}: ${reason}${message ? `: ${message}` : ''}.${before}`];
  }
  const unscheduled = condition('PodScheduled');
  if (unscheduled?.status === 'False')
    return [`Pod ${name} is not scheduled: ${unscheduled.message ?? unscheduled.reason}`];
  if (status.phase === 'Running') return [`Pod ${name} runs and is not ready.`];
  return [`Pod ${name} is ${status.phase ?? 'new'}.`];
}

/**
 * Resolves when the operator's Deployment is rolled out; `report` gets the reasons why it waits, each time they change.
 *
 * @param timeout in milliseconds
 * @throws CommandError after `timeout`, with the reasons and the operator's last lines of log
 */
export async function untilRolledOut(
  kubectl: Kubectl,
  timeout: number,
  report: (reason: string) => void,
): Promise<void> {
  const deadline = Date.now() + timeout;
  let reported = '';
  for (;;) {
    const deployments = await kubectl.list<Deployment>(['deployment', OPERATOR, `--namespace=${NAMESPACE}`]);
    const deployment = deployments[0];
    if (!deployment)
      throw new CommandError(`The Deployment ${OPERATOR} was deleted while it was rolled out.`);
    if (isRolledOut(deployment)) return;
    const selector = Object.entries(OPERATOR_LABELS).map(([key, value]) => `${key}=${value}`);
    const pods = await kubectl.list<Pod>([
      'pods',
      `--namespace=${NAMESPACE}`,
      `--selector=${selector.join(',')}`,
    ]);
    const reasons = waitingReasons(deployment, pods).join('\n');
    if (reasons !== reported && reasons !== '') report(reasons);
    reported = reasons;
    if (Date.now() > deadline) throw await rolloutFailure(kubectl, reasons, timeout);
    await sleep(POLL);
  }
}

async function rolloutFailure(kubectl: Kubectl, reasons: string, timeout: number): Promise<CommandError> {
  const logs = await lastLines(kubectl);
  const what = `The operator was installed, but is not ready after ${timeout / 1_000} s.`;
  return new CommandError(
    [what, reasons || 'No pod was created.', ...logs.map((line) => `  | ${line}`)].join('\n'),
    [
      ...(/ImagePull|ImageName|ErrImage/.test(reasons)
        ? [
            'The cluster cannot pull the image: push it to a registry that its nodes reach, or name another one with IMAGE=.',
          ]
        : []),
      `When the cause is removed, the rollout continues by itself: kubectl -n ${NAMESPACE} rollout status deployment/${OPERATOR}`,
    ].join('\n'),
  );
}

/** The last lines of the container that runs, or else of the one that ended. */
async function lastLines(kubectl: Kubectl): Promise<string[]> {
  const logs = ['logs', `deployment/${OPERATOR}`, `--namespace=${NAMESPACE}`, `--tail=${LOG_LINES}`];
  for (const args of [logs, [...logs, '--previous']]) {
    const { stdout, code } = await kubectl.try(args);
    if (code === 0 && stdout.trim() !== '') return stdout.trimEnd().split('\n');
  }
  return [];
}
