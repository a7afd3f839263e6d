import type { HubClient } from '../../client/hub-client';
import type { Hub, HubConfiguration } from '../../kinds';
import { conditionOf } from '../../runtime/conditions';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import type { Outcome } from '../../runtime/outcome';
import type { PodRestarts } from '../hub-workload/pod-restarts';
import type { HubClients } from '../hub-access/hub-clients';
import type { Services } from '../services';
import { syncHttpSettings } from './load/http-settings';
import type { DesiredContent, LoadJobs } from './load/load-jobs';
import type { ReloadPolicy } from './load/reload-decision';
import { Outcomes, withHttp } from './conditions';
import { decide } from './decide';
import { observeUnusable, observeUsable } from './record/observe';
import type { ConfigurationRecord, ConfigurationRecords, SentSettings } from './record/record';
import { Steps } from './steps';

/** A hub that can be used, or the reason why it cannot be, with its fields of status. */
export type HubAccess =
  | { readonly hub: Hub; readonly client: HubClient }
  | { readonly hub: Hub | undefined; readonly unusable: Outcome };

/**
 * Brings a configuration into its hub: reads the record, observes the hub, decides on one step and takes it (rules.md, "Reload or
 * restart"). Only steps write.
 */
export class ConfigurationReconciler {
  /** The resource that is reconciled when a client is connected again. */
  private readonly followed = new WeakMap<HubClient, string>();
  private readonly steps: Steps;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'applier' | 'secrets' | 'clock' | 'requeue'>,
    private readonly hubs: Pick<HubClients, 'contact'>,
    restarts: Pick<PodRestarts, 'restart'>,
    private readonly records: ConfigurationRecords,
    private readonly loads: LoadJobs,
  ) {
    this.steps = new Steps(services, restarts, records, loads);
  }

  async sync(desired: DesiredContent, access: HubAccess, forced: boolean): Promise<Outcome> {
    if ('client' in access) return this.syncUsable(desired, access.hub, access.client, forced);
    const { hub, unusable } = access;
    const { resource, content } = desired;
    const record = hub && (await this.record(hub, forced));
    const observed = await observeUnusable(this.services, this.hubs, resource, hub);
    const situation = { ...desired, observed, record, forced };
    const outcomes = new Outcomes(resource, content, record);
    const status = { ...unusable.status, ...outcomes.generated };
    // The hub may not have answered when it was asked for its mode.
    const after = observed.mode === 'recovery' ? { after: DEPENDENCY_REQUEUE } : {};
    const work = { ...situation, outcomes, hub, unusable: { ...unusable, ...after, status } };
    return this.steps.takeUnusable(decide(situation), work);
  }

  /** Beside a configuration that cannot be generated: a trial of the settings has to be ended within minutes. */
  syncInvalid(
    resource: HubConfiguration,
    outcome: Outcome,
    policy: Pick<ReloadPolicy, 'strategy'>,
    { hub, client }: { readonly hub: Hub; readonly client: HubClient },
    forced: boolean,
  ): Promise<Outcome> {
    return this.syncHttp(resource, outcome, policy, hub, client, { forced, mayRestart: true });
  }

  /** @param forced without the verdicts on other contents, so that they are tried again */
  private async record(hub: Hub, forced: boolean): Promise<ConfigurationRecord | undefined> {
    const record = await this.records.get(hub);
    if (!record || !forced) return record;
    const { failed, rejected, replacedPod, sentSettings, ...rest } = record;
    if (!(failed ?? rejected ?? replacedPod ?? sentSettings)) return record;
    await this.records.set(hub, rest);
    return rest;
  }

  private async syncUsable(
    desired: DesiredContent,
    hub: Hub,
    client: HubClient,
    forced: boolean,
  ): Promise<Outcome> {
    const { resource, content } = desired;
    this.followReconnects(resource, client);
    const record = await this.record(hub, forced);
    const outcomes = new Outcomes(resource, content, record);
    if (this.loads.isLoading(hub)) return outcomes.loading();
    const observed = await observeUsable(this.services, resource, hub, client);
    const last = this.loads.result(desired, hub, observed.start);
    const situation = { ...desired, observed, record, last, forced };
    const outcome = await this.steps.takeUsable(decide(situation), { ...situation, outcomes, hub, client });
    // One restart at a time.
    const mayRestart = outcome.reason !== 'RestartPending' || outcome.type === 'Stalled';
    return this.syncHttp(resource, outcome, desired.policy, hub, client, { forced, mayRestart });
  }

  private async syncHttp(
    resource: HubConfiguration,
    outcome: Outcome,
    { strategy }: Pick<ReloadPolicy, 'strategy'>,
    hub: Hub,
    client: HubClient,
    { forced, mayRestart }: { readonly forced: boolean; readonly mayRestart: boolean },
  ): Promise<Outcome> {
    if (this.loads.isLoading(hub)) return outcome;
    const record = await this.records.get(hub);
    if (!record) return outcome;
    const policy = {
      strategy,
      forced,
      mayRestart,
      hadSection: conditionOf(resource, 'HttpSettingsReady') !== undefined,
      sent: record.sentSettings,
      remember: (sentSettings: SentSettings | undefined) =>
        this.records.set(hub, { ...record, sentSettings }),
    };
    return withHttp(outcome, await syncHttpSettings(client, record.files, policy));
  }

  /** A hub that reconnects may have been restarted, with other files or with pending sections. */
  private followReconnects(
    { kind, metadata: { namespace, name } }: HubConfiguration,
    client: HubClient,
  ): void {
    if (this.followed.get(client) === name) return;
    this.followed.set(client, name);
    client.connection.onReconnect(() => {
      if (this.followed.get(client) === name) this.services.requeue(kind, namespace, name);
    });
  }
}
