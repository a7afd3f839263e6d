import type { HubClient } from '../../client/hub-client';
import type { Hub, HubConfiguration } from '../../kinds';
import { conditionOf } from '../../runtime/conditions';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import type { Outcome } from '../../runtime/outcome';
import type { PodRestarts } from '../hub-workload/pod-restarts';
import type { HubClients } from '../hub-access/hub-clients';
import type { Services } from '../services';
import { type HttpPolicy, syncHttpSettings } from './load/http-settings';
import type { LoadJobs } from './load/load-jobs';
import type { DesiredContent } from './load/running-content';
import { Outcomes, withHttp } from './conditions';
import { decide } from './decide';
import { observeUnusable, observeUsable, type UsableHub } from './record/observe';
import type { ConfigurationRecord, ConfigurationRecords, SentSettings } from './record/record';
import { Steps, type UnusableHub, type Work } from './steps';

/** The part of a step's work that needs no answer of the hub. */
type Prepared = Omit<Work, 'observed' | 'last'>;

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

  async sync(desired: DesiredContent, access: UsableHub | UnusableHub, forced: boolean): Promise<Outcome> {
    const record = access.hub && (await this.record(access.hub, forced));
    const outcomes = new Outcomes(desired.resource, desired.content, record);
    const prepared = { ...desired, record, forced, outcomes };
    return 'client' in access ? this.syncUsable(prepared, access) : this.syncUnusable(prepared, access);
  }

  private async syncUnusable(prepared: Prepared, { hub, unusable }: UnusableHub): Promise<Outcome> {
    const { resource, outcomes } = prepared;
    const observed = await observeUnusable(this.services, this.hubs, resource, hub);
    const status = { ...unusable.status, ...outcomes.generated };
    // The hub may not have answered when it was asked for its mode.
    const after = observed.mode === 'recovery' ? { after: DEPENDENCY_REQUEUE } : {};
    const work = { ...prepared, observed, hub, unusable: { ...unusable, ...after, status } };
    return this.steps.takeUnusable(decide(work), work);
  }

  private async syncUsable(prepared: Prepared, access: UsableHub): Promise<Outcome> {
    const { resource, policy, outcomes, forced } = prepared;
    const { hub, client } = access;
    this.followReconnects(resource, client);
    if (this.loads.isLoading(hub)) return outcomes.loading();
    const observed = await observeUsable(this.services, resource, access);
    const last = this.loads.result(prepared, hub, observed.start);
    const work = { ...prepared, ...access, observed, last };
    const outcome = await this.steps.takeUsable(decide(work), work);
    // One restart at a time.
    const mayRestart = outcome.reason !== 'RestartPending' || outcome.type === 'Stalled';
    return this.syncHttp(resource, outcome, access, { ...policy, forced, mayRestart });
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

  /** Also beside a configuration that cannot be generated: a trial of the settings has to be ended within minutes. */
  async syncHttp(
    resource: HubConfiguration,
    outcome: Outcome,
    { hub, client }: UsableHub,
    policy: Pick<HttpPolicy, 'strategy' | 'forced' | 'mayRestart'>,
  ): Promise<Outcome> {
    if (this.loads.isLoading(hub)) return outcome;
    const record = await this.records.get(hub);
    if (!record) return outcome;
    const memory = {
      hadSection: conditionOf(resource, 'HttpSettingsReady') !== undefined,
      sent: record.sentSettings,
      remember: (sentSettings: SentSettings | undefined) =>
        this.records.set(hub, { ...record, sentSettings }),
    };
    return withHttp(outcome, await syncHttpSettings(client, record.files, { ...policy, ...memory }));
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
