import type { Command } from 'commander';
import { timestamp } from '../../operator/base/clock';
import { OperationalError } from '../../operator/base/errors';
import { checkConfig, getConfig } from '../../operator/client/setup/core';
import { HubError } from '../../operator/client/connection/errors';
import { hubStartId } from '../../operator/client/setup/hub-start-id';
import { callService } from '../../operator/client/services';
import { type Hub, hub as definition } from '../../operator/kinds';
import { objectNames } from '../../operator/kinds/object-names';
import type { ClusterObject } from '../../operator/runtime/objects';
import { builtin } from '../../operator/runtime/types';
import type { Cluster } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import { exitCodes } from '../exit-codes';
import { openHub, type OpenHub } from '../hub/access';
import { oneLine, Results } from '../output';
import type { Occupation } from './occupation';
import { addState, describeState, waitFor, type WaitOptions, withWait } from './wait';
import { stateOf } from '../status/state';

/** Annotation that `kubectl rollout restart` sets. The operator keeps it on the pod template. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';
/** Milliseconds between two checks whether a hub has restarted. */
const POLL_INTERVAL = 2_000;

interface RestartOptions extends WaitOptions {
  readonly force?: true;
}

const MEANING: Readonly<Record<Occupation, string>> = {
  migration:
    'the hub converts its database to a newer schema, and a restart could leave the database half converted',
  backup: 'the hub makes or restores a backup, which a restart would end',
};

interface StatefulSet extends ClusterObject {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly readyReplicas?: number;
  };
}

export function restartCommand(context: CommandContext): Command {
  return withWait(
    clusterCommand('restart')
      .summary('restart a hub, and wait until it runs')
      .description(
        'Restarts the pod of the hub as `kubectl rollout restart` does. An external hub is asked to restart by itself, after ' +
          'it has checked its configuration. Refuses while the hub converts its database or makes a backup, or cannot be asked ' +
          'whether it does. Waits until the Hub is Ready.',
      )
      .argument('<hub>', 'name of a Hub')
      .option('--force', 'restart without asking the hub, which may end a migration or a backup'),
  ).action(
    context.clusterAction(async (cluster, name: string, options: RestartOptions) => {
      const hub = (await cluster.get(definition, name)) as unknown as Hub;
      if (!options.force) await refuseWhileOccupied(cluster, context, name);
      if (hub.spec.external) await restartExternal(cluster, context, name, options);
      else await restartPod(cluster, context, name, options);
      const results = new Results(context.environment.terminal, options);
      const isReady = options.wait
        ? await reportReady(cluster, context, name, options, results)
        : reportRequested(name, results);
      await results.end();
      return isReady ? exitCodes.success : exitCodes.negative;
    }),
  );
}

function reportRequested(name: string, results: Results): true {
  const { kind } = definition;
  results.add({ kind, name, state: 'Requested' }, `${kind} ${name}: restart requested`);
  return true;
}

async function reportReady(
  cluster: Cluster,
  { environment }: CommandContext,
  name: string,
  { timeout }: WaitOptions,
  results: Results,
): Promise<boolean> {
  const resource = await waitFor(cluster, environment, definition, name, timeout, (each) =>
    stateOf(each).state === 'Progressing' ? describeState(each) : true,
  );
  return addState(results, resource, definition);
}

/**
 * Refuses a restart during an operation that it would interrupt. A hub that does not answer may be in such an
 * operation too. @throws CommandError
 */
async function refuseWhileOccupied(
  cluster: Cluster,
  { environment: { readOccupation } }: CommandContext,
  name: string,
): Promise<void> {
  const occupation = await readOccupation(cluster, name).catch((error: unknown) => {
    if (!(error instanceof OperationalError)) throw error;
    throw new CommandError(
      `the hub of the Hub ${name} cannot be asked whether it converts its database or makes a backup: ${oneLine(error.message)}. ` +
        'Nothing was restarted; --force restarts it all the same, which ends such work',
    );
  });
  if (occupation)
    throw new CommandError(
      `Hub ${name}: ${MEANING[occupation]}. Nothing was restarted: try again when it is done, or use --force to restart it all the same`,
      exitCodes.negative,
    );
}

async function restartPod(
  cluster: Cluster,
  { environment }: CommandContext,
  name: string,
  { wait, timeout }: WaitOptions,
): Promise<void> {
  const { clock, signal, terminal } = environment;
  const { workload } = objectNames(name);
  const { metadata } = await cluster.patch<StatefulSet>(builtin.StatefulSet, workload, {
    spec: { template: { metadata: { annotations: { [RESTARTED_AT]: timestamp(clock.now()) } } } },
  });
  const end = clock.monotonic() + timeout;
  while (wait) {
    const set = await cluster.api.find<StatefulSet>(builtin.StatefulSet, cluster.namespace, workload);
    const { observedGeneration = 0, currentRevision, updateRevision, readyReplicas } = set?.status ?? {};
    const isSeen = observedGeneration >= (metadata.generation ?? 0);
    if (isSeen && currentRevision === updateRevision && readyReplicas === 1) return;
    if (clock.monotonic() >= end) throw timeIsOver(name, 'its pod is not ready', timeout);
    terminal.progress(`Hub ${name}: its pod restarts`);
    await clock.sleep(POLL_INTERVAL, signal);
  }
}

async function restartExternal(
  cluster: Cluster,
  { environment: { clock, signal, terminal } }: CommandContext,
  name: string,
  { wait, timeout }: WaitOptions,
): Promise<void> {
  const hub = await openHub(cluster, name, clock);
  try {
    const { rest, connection } = hub.client;
    const { result, errors } = await checkConfig(rest);
    if (result !== 'valid')
      throw new CommandError(
        `the hub would not start with its configuration, so it is not restarted: ${oneLine(rest.redact(errors ?? ''))}`,
        exitCodes.negative,
      );
    const before = await hubStartId(connection);
    await callService(rest, 'homeassistant', 'restart').catch((error: unknown) => {
      if (!(error instanceof HubError)) throw error; // the answer may be lost when the hub stops
    });
    const end = clock.monotonic() + timeout;
    while (wait && !(await hasRestarted(hub, before))) {
      if (clock.monotonic() >= end) throw timeIsOver(name, 'the hub is not running again', timeout);
      terminal.progress(`Hub ${name}: it restarts`);
      await clock.sleep(POLL_INTERVAL, signal);
    }
  } finally {
    hub.close();
  }
}

async function hasRestarted({ client }: OpenHub, before: string): Promise<boolean> {
  try {
    const { state } = await getConfig(client.rest);
    return state === 'RUNNING' && (await hubStartId(client.connection)) !== before;
  } catch (error) {
    if (error instanceof HubError) return false;
    throw error;
  }
}

const timeIsOver = (name: string, state: string, timeout: number): CommandError =>
  new CommandError(`Hub ${name}: ${state} after ${timeout / 1_000} s`, exitCodes.negative);
