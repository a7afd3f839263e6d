import { getConfig } from '../../client/core';
import { HubBanned, HubError, HubUnreachable, TokenRejected } from '../../client/errors';
import { hub as definition, type Hub, type HubSpec } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { timestamp } from '../../clock';
import { BOOTSTRAP_RETRY, DEPENDENCY_REQUEUE, POD_NOT_READY_REQUEUE } from '../../limits';
import { type ConditionValue, type Outcome, ready, stalled, waiting } from '../../runtime/outcome';
import type { Pass, SyncModule } from '../../runtime/sync-module';
import type { HubClients } from '../hub-clients';
import type { Services } from '../services';
import { Bootstrap, type BootstrapState, type Step } from './bootstrap';
import { podState } from './pod-state';
import { Rollouts } from './rollout';
import { hubUrl, syncOperatorIp, syncService } from './service';
import { syncStorage } from './storage';
import { readToken } from './token';
import { syncStatefulSet } from './workload';

/**
 * The hub instance. Each pass runs, in the order of the specification ("Hub reconciliation order"): volume claim,
 * StatefulSet, Service, bootstrap, status.
 */
export function hubModule(services: Services, hubs: HubClients): SyncModule<Hub> {
  const rollouts = new Rollouts(services);
  const bootstrap = new Bootstrap(services);

  async function sync(hub: Hub, pass: Pass): Promise<Outcome> {
    const spec = defaulted(definition.spec, hub.spec);
    if (spec.external) return stalled('NotYetSupported', 'This version of the operator does not look after external hubs yet.');
    pass.log.debug({ step: 'PersistentVolumeClaim' }, 'step');
    const storage = await syncStorage(services, hub, spec);
    const rollout = await rollouts.next(hub);
    if (rollout.type === 'waiting-for-configuration') {
      return pending('WaitingForConfiguration', 'Waiting for a HubConfiguration of this Hub: create one.', DEPENDENCY_REQUEUE, storage);
    }
    pass.log.debug({ step: 'StatefulSet' }, 'step');
    await syncOperatorIp(services, hub);
    await syncStatefulSet(services, hub, spec, rollout.hashes);
    pass.log.debug({ step: 'Service' }, 'step');
    const service = await syncService(services, hub, spec);
    const url = hubUrl(services, hub, spec, service);
    const { config: configHash, secrets: secretsHash } = rollout.hashes;
    const outcome = await operate(hub, spec, url, storage, pass);
    return {
      ...soon(outcome, rollout.after),
      status: { url: url ?? null, configHash, secretsHash: secretsHash ?? null, ...outcome.status },
    };
  }

  /** From a workload that exists to a hub that answers with our token. */
  async function operate(hub: Hub, spec: HubSpec, url: string | undefined, storage: ConditionValue, pass: Pass): Promise<Outcome> {
    const pod = podState(services, hub);
    if (!pod.ready || !url) {
      const words = pod.ready ? 'The address of the hub is not known yet.' : pod.words;
      return pending('PodNotReady', words, POD_NOT_READY_REQUEUE, storage, progress(hub, 'WaitForHealth', words));
    }
    const token = await readToken(services, hub, spec);
    pass.log.debug({ step: 'bootstrap', state: hub.status?.bootstrap?.state }, 'step');
    if (!spec.bootstrap.enabled) {
      return token === undefined ? withoutBootstrap(storage) : verify(hub, spec, url, token, storage);
    }
    const state = hub.status?.bootstrap?.state ?? 'WaitForHealth';
    if (state === 'Done' && token !== undefined) return verify(hub, spec, url, token, storage);
    try {
      const from = state === 'Done' ? 'CheckOnboarding' : state;
      return conclude(hub, await bootstrap.step(from, { hub, spec, url }), storage);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      const message = `${state}: ${error.message}`;
      // A hub that refuses mostly has not loaded that part of itself yet.
      const after = error instanceof HubUnreachable ? POD_NOT_READY_REQUEUE : BOOTSTRAP_RETRY;
      return pending('Bootstrapping', message, after, storage, progress(hub, state, message));
    }
  }

  function conclude(hub: Hub, step: Step, storage: ConditionValue): Outcome {
    if (step.type === 'stuck') {
      const status = progress(hub, hub.status?.bootstrap?.state ?? 'CheckOnboarding', step.message);
      const BootstrapReady = { status: 'False', reason: step.reason, message: step.message } as const;
      const conditions = { StorageReady: storage, BootstrapReady };
      return step.reason === 'MissingCredentials'
        ? waiting('Bootstrapping', step.message, DEPENDENCY_REQUEUE, { status, conditions })
        : stalled('Bootstrapping', step.message, { status, conditions });
    }
    const { state, after = 0, message } = step;
    const reason = state === 'WaitForAPIReady' && after > 0 ? 'ApiNotLoaded' : 'Bootstrapping';
    return pending(reason, message, after, storage, progress(hub, state, message));
  }

  /** "Ready only when the hub answers with our token and is not in recovery mode." */
  async function verify(hub: Hub, spec: HubSpec, url: string, token: string, storage: ConditionValue): Promise<Outcome> {
    const client = hubs.client(hub, url, token);
    try {
      const { recovery_mode: recovering, safe_mode: safe, state, version } = await getConfig(client.rest);
      const conditions = { StorageReady: storage, BootstrapReady: completed };
      if (recovering) {
        const message = `The hub runs in recovery mode: its configuration or storage is broken. See its log, or correct the HubConfiguration.`;
        return waiting('RecoveryMode', message, DEPENDENCY_REQUEUE, { conditions, status: { phase: 'Failed', version } });
      }
      const status = { phase: 'Running', version, ...(spec.bootstrap.enabled && progress(hub, 'Done', 'The hub is set up.')) };
      if (safe) return waiting('SafeMode', 'The hub runs in safe mode, without custom integrations.', DEPENDENCY_REQUEUE, { conditions, status });
      return ready('HubRunning', `Home Assistant ${version} answers at ${url} (${state}).`, { conditions, status });
    } catch (error) {
      if (error instanceof TokenRejected && spec.bootstrap.enabled) {
        // Revoked in the hub, or younger than the backup that was restored: made anew with the owner's credentials.
        hubs.forget(hub);
        return pending('Bootstrapping', 'The hub rejects the API token: a new one is made.', 0, storage, progress(hub, 'CreateAPIToken', error.message));
      }
      if (!(error instanceof HubError)) throw error;
      const reason = error instanceof TokenRejected ? 'TokenRejected' : error instanceof HubBanned ? 'HubBanned' : 'HubUnreachable';
      return waiting(reason, error.message, POD_NOT_READY_REQUEUE, { conditions: { StorageReady: storage }, status: { phase: 'Unknown' } });
    }
  }

  function progress(hub: Hub, state: BootstrapState, message: string) {
    const { state: before, message: said, lastAttempt } = hub.status?.bootstrap ?? {};
    const moved = before !== state || said !== message;
    return { bootstrap: { state, message, lastAttempt: moved ? timestamp(services.clock.now()) : lastAttempt } };
  }

  return { sync };
}

const completed: ConditionValue = { status: 'True', reason: 'Completed', message: 'The API token is there.' };

function pending(reason: string, message: string, after: number, storage: ConditionValue, status: object = {}): Outcome {
  const BootstrapReady = { status: 'False', reason: 'InProgress', message } as const;
  return waiting(reason, message, after, { conditions: { StorageReady: storage, BootstrapReady }, status: { phase: 'Pending', ...status } });
}

function withoutBootstrap(storage: ConditionValue): Outcome {
  const message = 'bootstrap.enabled is false: store a long-lived access token of the hub in the API token Secret.';
  const BootstrapReady = { status: 'False', reason: 'Disabled', message } as const;
  return waiting('TokenNotAvailable', message, DEPENDENCY_REQUEUE, { conditions: { StorageReady: storage, BootstrapReady }, status: { phase: 'Pending' } });
}

/** The same outcome, looked at again after `after` milliseconds at the latest. */
function soon(outcome: Outcome, after: number | undefined): Outcome {
  if (after === undefined || outcome.type === 'Stalled') return outcome;
  return { ...outcome, after: Math.min(outcome.after ?? Infinity, after) };
}
