import { timestamp } from '../../../base/clock';
import { DEPENDENCY_REQUEUE, REJECTED_WRITE_RETRY_INTERVAL, RESYNC } from '../../../base/limits';
import { undefinedIf } from '../../../base/undefined-if';
import { HubError, HubFailed, HubRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { blueprint as definition, type HubBlueprint } from '../../../kinds';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, type Waiting, waiting } from '../../../runtime/outcome';
import type { ReconcileContext } from '../../../runtime/sync-module';
import { DeletionAge } from '../../deletion-age';
import { hubErrorOutcome } from '../../hub-connection/hub-errors';
import { volumeStatus } from '../../hub-pod/hub-volume';
import { DriftPolicy } from '../../objects/drift-policy';
import { ObjectSync } from '../../objects/object-sync';
import { Operation } from '../../objects/operation';
import { adoptedEvent, forgottenStatus, hasAccepted } from '../../objects/ownership';
import { cleanupSkipped, shouldDelete } from '../../objects/removal';
import { WritePacing } from '../../objects/write-pacing';
import type { Services } from '../../services';
import * as conditions from './conditions';
import type { BlueprintContexts } from './contexts';
import { type Present, type Seen, see } from './observe';
import { shownBlueprint } from './shown';
import { disabledUsers, isLeaving } from './users';
import { beginWork, type Work } from './begin';

/**
 * Milliseconds for which a deleted blueprint waits for automations and scripts that use it and are being
 * deleted too.
 */
const USERS_GRACE = 60_000;
const USERS_POLL = 1_000;
/** Milliseconds for which a removal asks a hub that answers other requests for its list of blueprints. */
const LIST_GRACE = 60_000;

/** Status fields about a blueprint, besides its path. */
const OF_OBJECT = ['bodyHash', 'appliedFields', 'users', 'brokenUsers'];

/**
 * Reconciles blueprints (rules.md, "Blueprints"). The hub answers a save within milliseconds, so a reconcile
 * waits for it. The automations and scripts that use a blueprint are reloaded in the background.
 */
export class BlueprintSync extends ObjectSync<HubBlueprint, Work, Seen> {
  readonly isReferenced = true;
  private readonly drift: DriftPolicy;
  private readonly pacing: WritePacing;
  private readonly deletions: DeletionAge;

  constructor(
    private readonly services: Pick<
      Services,
      'applier' | 'cache' | 'clock' | 'metrics' | 'requeue' | 'texts'
    >,
    private readonly contexts: BlueprintContexts,
  ) {
    super();
    this.drift = new DriftPolicy(services, definition);
    // Each rejected text causes an error in the hub's log, so the same text is sent again only after a long
    // time.
    this.pacing = new WritePacing(services.clock, RESYNC);
    this.deletions = new DeletionAge(services);
  }

  protected override begin(
    resource: HubBlueprint,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Work | Outcome> {
    return beginWork(this.services, this.contexts.of(client, resource), resource, client, context);
  }

  /** Waits for the reload of automations or scripts after a save. */
  protected override follow({ cached }: Work): Promise<Outcome | undefined> {
    const { reload } = cached;
    if (!reload) return Promise.resolve(undefined);
    if (!reload.end) return Promise.resolve(conditions.loading());
    cached.reload = undefined;
    const failure = reload.end.type === 'failed' ? reload.end.error : reload.end.result;
    const message =
      failure instanceof Error ? failure.message : failure?.ok === false ? failure.message : undefined;
    cached.failed = message === undefined ? undefined : { message, at: this.services.clock.monotonic() };
    return Promise.resolve(undefined);
  }

  protected override forgetObject({ volume }: Work): Outcome {
    return conditions.inProgress({ status: forgottenStatus({ idField: 'path' }, OF_OBJECT, volume) });
  }

  protected override async observe(work: Work): Promise<Seen | Outcome> {
    const rejection = this.pacing.rejectionOf(work.cached, work.hash);
    if (rejection) return hubErrorOutcome(rejection, 'object');
    try {
      return await see(this.services, work);
    } catch (error) {
      if (!(error instanceof HubRejected) || error.requestType !== 'write') throw error;
      this.pacing.record(work.cached, work.hash, error);
      return hubErrorOutcome(error, 'object');
    }
  }

  protected override dryRun({ spec }: Work, seen: Seen): Outcome {
    return conditions.dryRun(spec.path, seen.type);
  }

  protected override acquire(work: Work, seen: Seen): Outcome | undefined {
    const { resource, spec, volume } = work;
    if (resource.status?.path === spec.path) return undefined;
    const isThere = seen.type !== 'Absent';
    const broken = seen.type === 'Different' ? conditions.breaksUsers(seen.broken) : undefined;
    if (broken) return broken;
    const status = { path: spec.path, adopted: isThere || null, appliedHash: null, bodyHash: null };
    return conditions.inProgress({
      status: { ...status, ...(seen.type === 'Equal' && this.accepted(work, seen)), ...volumeStatus(volume) },
      events: isThere ? [adoptedEvent(`blueprint ${spec.domain}/${spec.path}`)] : [],
    });
  }

  protected override async ensure(work: Work, seen: Seen): Promise<Outcome> {
    const { resource, cached, hash } = work;
    if (seen.type === 'Equal') return this.ensureLoaded(work, seen);
    const isKnown = resource.status?.bodyHash !== undefined;
    const drifted = isKnown && hasAccepted(resource, hash);
    if (seen.type === 'Absent') {
      const change = 'The blueprint was removed from the hub.';
      const left = this.drift.leave(resource, cached, { change, drifted, left: 'it is not created again' });
      return left ?? this.write(work, seen, drifted ? `${change} It is created again.` : undefined);
    }
    const change = 'The blueprint was changed in the hub.';
    const correction = { key: `${hash} ${seen.shown?.hash}`, text: 'its text' };
    const left = this.drift.leave(resource, cached, {
      change,
      drifted,
      left: 'it is not corrected',
      correction,
    });
    const obstacle = left ?? conditions.breaksUsers(seen.broken);
    if (obstacle) return obstacle;
    return this.write(work, seen, drifted ? `${change} The change is reverted.` : undefined, correction.key);
  }

  /**
   * @param drift message of the event if a change in the hub is reverted
   * @param correction key of the differences that the write corrects
   */
  private async write(work: Work, seen: Seen, drift?: string, correction?: string): Promise<Outcome> {
    const { client, spec, given, cached, hash, hub, context, volume } = work;
    const { domain, path } = spec;
    const { blueprints } = client;
    const after = this.pacing.pause(cached, hash);
    if (after > 0) return conditions.inProgress({}, after);
    context.signal.throwIfAborted();
    const isNew = seen.type === 'Absent';
    const reloaded = isNew ? undefined : hub.expectReload(domain);
    try {
      const sourceUrl = spec.sourceUrl ?? seen.keptUrl;
      const isReplaced = await blueprints.save({ domain, path, yaml: given.text, sourceUrl }, isNew);
      this.pacing.mark(cached);
      if (correction !== undefined) this.drift.count(cached, correction);
      const listed = (await blueprints.list(domain)).get(path);
      const shown = listed && (await shownBlueprint(blueprints, domain, path, listed));
      const users = await blueprints.usersOf(domain, path);
      if (isReplaced || mayBeUsed(users)) this.reload(work, isReplaced ? reloaded : undefined);
      return conditions.inProgress(
        {
          status: {
            ...(shown && this.accepted(work, { shown })),
            ...(isNew && { adopted: null }),
            lastAppliedTime: timestamp(this.services.clock.now()),
            ...volumeStatus(volume),
          },
          events: drift === undefined ? [] : [this.drift.reportCorrected(drift)],
        },
        cached.reload ? DEPENDENCY_REQUEUE : 0,
      );
    } catch (error) {
      this.pacing.mark(cached);
      if (!(error instanceof HubRejected)) throw error;
      const status = error.code === 'already_exists' ? { path: null, adopted: null } : {};
      // A user has just created it: it is adopted. The hub does not list a file behind a symbolic link, which is left.
      if (error.code === 'already_exists' && (await blueprints.list(domain)).has(path))
        return conditions.inProgress({ status }, 0);
      this.pacing.record(cached, hash, error);
      return hubErrorOutcome(error, 'object', { status });
    }
  }

  /**
   * Makes the hub reload the automations or scripts, unless the hub itself does so.
   *
   * @param reloaded resolves with true when the hub has reported its own reload; undefined if it begins none
   */
  private reload({ client, cached, resource, spec }: Work, reloaded?: Promise<boolean>): void {
    const { kind, metadata } = resource;
    const run = async () => ((await reloaded) ? undefined : client.reloads.request(spec.domain));
    const onEnd = () => this.services.requeue(kind, metadata.namespace, metadata.name);
    cached.reload = new Operation<Awaited<ReturnType<typeof run>>>(this.services.clock).start(run, onEnd);
  }

  private accepted({ hash, spec }: Work, { shown }: Pick<Present, 'shown'>) {
    return {
      appliedHash: hash,
      bodyHash: shown?.hash ?? null,
      appliedFields: spec.sourceUrl === undefined ? null : ['sourceUrl'],
    };
  }

  /** The outcome when the hub has the text. Automations and scripts run with it after a reload. */
  private async ensureLoaded(work: Work, seen: Present): Promise<Outcome> {
    const { client, resource, spec, cached, hash, volume } = work;
    const { failed } = cached;
    const now = this.services.clock.monotonic();
    this.drift.clear(cached);
    const users = await client.blueprints.usersOf(spec.domain, spec.path);
    // After a crash, the reload that followed the save may not have run.
    const isUnseen = !hasAccepted(resource, hash) && resource.status?.bodyHash !== seen.shown?.hash;
    const isDue = failed !== undefined && now - failed.at >= REJECTED_WRITE_RETRY_INTERVAL;
    const status = { ...this.accepted(work, seen), ...volumeStatus(volume) };
    if ((isUnseen && mayBeUsed(users)) || isDue) {
      cached.failed = undefined;
      this.reload(work);
      return conditions.loading(status);
    }
    const disabled = await disabledUsers(client, users ?? []);
    return conditions.loaded(spec, { users, disabled, failed, status });
  }

  override async remove(resource: HubBlueprint, client: HubClient): Promise<readonly EventSpec[] | Waiting> {
    const object = this.objectOf(resource);
    if (object === undefined) return [];
    const { domain, path } = resource.spec;
    const { blueprints } = client;
    const { cached: all, checks } = this.contexts.of(client, resource);
    const cached = all.get(resource.metadata.uid);
    const now = this.services.clock.monotonic();
    cached.unlistedSince ??= now;
    blueprints.invalidate(domain);
    // The hub answers other requests, but its list may be larger than a message may be, for as long as a file of a person
    // is. The list is asked for in any case: the hub may have been away since the first failure.
    const isLast = (error: unknown) => error instanceof HubError && now - cached.unlistedSince! >= LIST_GRACE;
    const list = await undefinedIf(isLast, blueprints.list(domain));
    if (!list) return [cleanupSkipped(object, 'the hub does not list its blueprints')];
    cached.unlistedSince = undefined;
    await checks.clean(domain, list.keys());
    if (!list.has(path)) return [];
    const users = (await blueprints.usersOf(domain, path)) ?? [];
    if (users.length === 0) return this.removeUnused(client, resource, object);
    const isAwaited = users.some((each) => isLeaving(this.services, resource, each));
    if (isAwaited && this.deletions.of(resource) < USERS_GRACE)
      return waiting('Removing', 'The removal waits until its users are removed.', USERS_POLL);
    return [cleanupSkipped(object, `it is used by ${conditions.namesOf(users)}`)];
  }

  private async removeUnused(
    { blueprints }: HubClient,
    { spec: { domain, path } }: HubBlueprint,
    object: string,
  ): Promise<readonly EventSpec[]> {
    try {
      await blueprints.remove(domain, path);
      return [];
    } catch (error) {
      if (!(error instanceof HubRejected || error instanceof HubFailed)) throw error;
      return [cleanupSkipped(object, `the hub says “${error.message.replace(/\.$/, '')}”`)];
    }
  }

  override objectOf(resource: HubBlueprint): string | undefined {
    const { status, spec } = resource;
    if (status?.path === undefined || !shouldDelete(resource)) return undefined;
    return `blueprint ${spec.domain}/${status.path}`;
  }

  isWorking(resource: HubBlueprint, client: HubClient): boolean {
    return this.contexts.of(client, resource).cached.find(resource.metadata.uid)?.reload !== undefined;
  }

  override forget(resource: HubBlueprint, client: HubClient): void {
    this.contexts.of(client, resource).cached.delete(resource.metadata.uid);
  }
}

/** @param users undefined if the hub does not tell them */
const mayBeUsed = (users: readonly string[] | undefined): boolean => users?.length !== 0;
