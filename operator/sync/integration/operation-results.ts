import { HubRejected } from '../../client/errors';
import { DeadlineExceeded } from '../../deadline';
import { Stopping } from '../../errors';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';
import type { Services } from '../services';
import type { EntryAcquisition } from './entry/acquisition';
import { type AnswerHashes, incompleteHash } from './answer-hashes';
import { failureAfter } from './retry';
import {
  type Applied,
  type Operation,
  type OperationEnd,
  type OperationResult,
  withoutSubentries,
} from './operation';
import { problemText } from './flow/problem-text';
import { inProgress, stillFailed, withStatus } from './progress';
import { appliedStatus, entryHashes, NO_ENTRY } from './entry/status-fields';
import type { IntegrationReconcile } from './integration-reconcile';

/** Turns what an operation came to into the status of its resource. */
export class OperationResults {
  constructor(
    private readonly services: Pick<Services, 'clock'>,
    private readonly acquisition: EntryAcquisition,
  ) {}

  /** Takes over what an operation came to. */
  async record(reconcile: IntegrationReconcile, operation: Operation, end: OperationEnd): Promise<Outcome> {
    const { cached, client, context, hub, resource } = reconcile;
    cached.operation = undefined;
    hub.releaseDomain(resource.metadata.uid);
    if (end.type === 'failed') {
      const { error } = end;
      // The operation has ended its flow in the hub.
      if (error instanceof Stopping || error instanceof DeadlineExceeded)
        return inProgress(reconcile, undefined, 0, { pendingFlow: null });
      if (error instanceof HubRejected) return this.rejected(reconcile, operation, error);
      // Whether it was carried out is not known: the pending flow stays in status, and its entry is looked for.
      throw error;
    }
    const { result } = end;
    const summary = { kind: operation.type, result: result.type, flowID: operation.flow?.flowID };
    context.log.info(summary, 'ended config flow');
    switch (result.type) {
      case 'created': {
        // What no form asked for is not recorded as applied: the update that follows reports it.
        const hashes = Object.entries(entryHashes(operation.sent.hashes)).map(([id, hash]) => [
          id,
          result.unused.includes(id) ? incompleteHash(hash) : hash,
        ]);
        const recorded = Object.fromEntries(hashes) as AnswerHashes;
        return this.acquisition.own(reconcile, result.entry, recorded, {}, operation.sent.key);
      }
      case 'applied':
        if (operation.type === 'update') cached.failure = undefined;
        return this.applied(reconcile, operation, result);
      case 'recreate': {
        // The answers changed while the flow was tried: what they ask for now is checked first.
        if (operation.sent.configHash !== reconcile.configHash)
          return this.applied(reconcile, operation, result);
        const message = `The entry is removed and created again: no form of it has ${result.changed.join(', ')}, or reconfigure is Recreate.`;
        const event: EventSpec = { type: 'Warning', reason: 'EntryRecreated', message };
        const entries = await client.configEntries.refreshed();
        return this.acquisition.begin(reconcile, entries, reconcile.status.entryID, [event]);
      }
      case 'failed': {
        const existing =
          operation.type === 'create' ? await this.acquisition.existing(reconcile, result) : undefined;
        if (existing) return this.acquisition.adopt(reconcile, existing);
        const message = reconcile.redact(await problemText(client, result.flow, result.problem));
        return this.failed(reconcile, operation, result, message);
      }
    }
  }

  private applied(
    reconcile: IntegrationReconcile,
    operation: Operation,
    { applied }: { readonly applied: Applied },
  ): Outcome {
    const status = appliedStatus(reconcile, this.services.clock, operation, applied);
    return inProgress(reconcile, undefined, 0, status, adoptionEvents(applied));
  }

  private failed(
    reconcile: IntegrationReconcile,
    operation: Operation,
    { problem, applied }: Extract<OperationResult, { readonly type: 'failed' }>,
    message: string,
  ): Outcome {
    const { cached } = reconcile;
    const { configHash } = operation.sent;
    if (operation.type === 'reauth') {
      if (cached.reauth) cached.reauth = { ...cached.reauth, message };
      return inProgress(reconcile, undefined, 0);
    }
    cached.failure = failureAfter(
      { previous: cached.failure, configHash },
      problem,
      withWayOut(reconcile, problem.key, message),
      this.services.clock,
    );
    const status =
      operation.type === 'create'
        ? NO_ENTRY
        : appliedStatus(reconcile, this.services.clock, operation, applied);
    // Compared with the answers as they are now: they may have changed meanwhile.
    const failed = stillFailed(reconcile, this.services.clock);
    const events = adoptionEvents(applied);
    return failed
      ? { ...withStatus(failed, status), events }
      : inProgress(reconcile, undefined, 0, status, events);
  }

  /** The hub has no such integration, or one that cannot be reconfigured. */
  private rejected(reconcile: IntegrationReconcile, operation: Operation, error: HubRejected): Outcome {
    const { spec } = reconcile;
    const text =
      error.code === '404' && operation.type === 'create'
        ? `The hub has no integration ${spec.domain} that can be set up, or cannot load it: check spec.domain and the hub’s log.`
        : `The hub rejected the flow of ${spec.domain}: ${error.message}`;
    const failed = {
      type: 'failed',
      flow: { kind: 'config', domain: spec.domain },
      problem: { kind: 'answers' },
    } as const;
    return this.failed(
      reconcile,
      operation,
      { ...failed, applied: withoutSubentries(new Set()) },
      reconcile.redact(text),
    );
  }
}

function adoptionEvents({ adopted }: Applied): readonly EventSpec[] {
  return [...adopted].map((id) => ({
    type: 'Warning',
    reason: 'Adopted',
    message: `The entry already had ${id}: it now belongs to this resource, and keeps its data until its answers change.`,
  }));
}

function withWayOut(
  { hub, client, resource, spec }: IntegrationReconcile,
  key: string | undefined,
  message: string,
) {
  if (key !== 'single_instance_allowed' && key !== 'already_configured') return message;
  if (spec.adopt === 'Never') return `${message} The entry exists, and spec.adopt is Never.`;
  const entries = [...(client.configEntries.lastKnown?.values() ?? [])];
  const own = entries.filter((entry) => entry.domain === spec.domain && entry.source !== 'ignore');
  const titles = own.map((entry) => {
    const owner = hub.ownerOf(entry.entry_id, resource);
    return `“${entry.title}”${owner ? ` (of ${owner.metadata.name})` : ''}`;
  });
  if (titles.length === 0) return message;
  return `${message} To adopt an existing entry, set spec.title to its title: ${titles.join(', ')}.`;
}
