import { getConfig } from '../../../client/setup/core';
import { HubBanned, HubError, TokenRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { hasLocalHost, LOCAL_ADDRESS } from '../../../client/connection/local-address';
import type { Hub, HubSpec } from '../../../kinds';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { condition, type Outcome, stalled, waiting } from '../../../runtime/outcome';
import type { HubClients } from '../../hub-connection/hub-clients';
import { hubErrorOutcome } from '../../hub-connection/hub-errors';
import type { Services } from '../../services';
import type { MissingValue } from '../../hub-connection/secret-value';
import { resolveAccess } from '../../hub-connection/token';
import { hubModeProblem, HubStart, requireAdmin } from '../health/hub-health';
import { stateFingerprint } from '../../hub-connection/health-monitor';
import { type Authenticated, type HubContext, type HubStep, isOutcome } from '../steps';
import { instanceId } from '../../../client/setup/instance-id';
import { byAge } from '../../../runtime/age';
import { PerHub } from '../../hub-connection/per-hub';

type External = NonNullable<HubSpec['external']>;

/**
 * Connects to a hub that runs elsewhere (rules.md, "External hubs"). Its token is used and never replaced.
 */
export function externalStep(
  services: ExternalServices,
  hubs: HubClients,
): HubStep<HubContext, Authenticated> {
  const external = new ExternalHubs(services, hubs);
  return { name: 'external hub', run: (context) => external.connect(context) };
}

type ExternalServices = Pick<Services, 'applier' | 'cache' | 'secrets' | 'settings' | 'requeue'>;

class ExternalHubs {
  private readonly hubStart: HubStart;
  private readonly identity: ExternalIdentity;

  constructor(
    private readonly services: ExternalServices,
    private readonly hubs: HubClients,
  ) {
    this.hubStart = new HubStart(services, hubs.healthMonitor);
    this.identity = new ExternalIdentity(services);
  }

  async connect(context: HubContext): Promise<Outcome | Authenticated> {
    const { hub, reconcile, spec } = context;
    const external = spec.external!;
    const invalid = invalidUrl(external, this.services.settings.allowLocalHubs);
    if (invalid) return stalled('InvalidSpec', invalid, refused);
    if (spec.delivery === 'File') context.problem = deliveryProblem;
    const url = new URL(external.url).origin;
    context.status['url'] = url;
    if (hub.status?.url !== undefined && hub.status.url !== url) this.identity.forget(context);
    const found = await resolveAccess(this.services, hub, spec, url);
    if ('missing' in found) return tokenMissing(context, found);
    const client = this.hubs.client(hub, found.access, reconcile.forced);
    try {
      return await this.observe(context, url, client);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      this.hubs.healthMonitor.watch(hub, client, stateFingerprint(error));
      // A Hub whose token is rejected gives up its claim to the hub.
      if (error instanceof TokenRejected) this.identity.forget(context);
      return externalErrorOutcome(error);
    }
  }

  private async observe(
    context: HubContext,
    url: string,
    client: HubClient,
  ): Promise<Outcome | Authenticated> {
    const { hub, status } = context;
    const core = await getConfig(client.rest);
    this.hubs.healthMonitor.watch(hub, client, stateFingerprint(core));
    status['version'] = core.version;
    const problem = (await hubModeProblem(this.services, hub, core, client)) ?? (await requireAdmin(client));
    if (problem) return problem;
    const id = await this.identity.of(hub, client);
    status['volumeID'] = id;
    const conflict = this.identity.conflict(hub, id);
    if (conflict) return { ...conflict, ...refused };
    const running = await this.hubStart.running(context, client, core);
    return isOutcome(running) ? running : { url, client, core: running.core };
  }
}

/** Status of a Hub whose hub is not used. */
const refused = { status: { phase: 'Failed', url: null } } as const;

const deliveryProblem = stalled(
  'NotSupportedByExternalHub',
  'spec.delivery: File needs files in the hub’s pod, which an external hub does not have here. Set it to Api.',
);

function tokenMissing(
  { conditions, spec }: HubContext,
  { missing: message, isRefused }: MissingValue,
): Outcome {
  if (spec.backup) conditions['BackupConfigured'] = condition('False', 'TokenNotAvailable', message);
  const details = { status: { phase: 'Pending' } };
  return isRefused
    ? stalled('SecretRefused', message, details)
    : waiting('TokenNotAvailable', message, DEPENDENCY_REQUEUE, details);
}

/**
 * The reason why a URL must not be used. The schema checks most of this too.
 *
 * @returns undefined when the URL is valid
 */
export function invalidUrl({ url }: Pick<External, 'url'>, allowLocal: boolean): string | undefined {
  if (!URL.canParse(url)) return 'external.url is invalid: no valid host, or a port that is not 1–65535.';
  const parsed = new URL(url);
  if (!['http:', 'https:'].includes(parsed.protocol))
    return 'external.url is invalid: the scheme must be http or https.';
  if (parsed.username || parsed.password || url.includes('@'))
    return 'external.url is invalid: remove the credentials.';
  if (parsed.pathname !== '/' || parsed.search || parsed.hash)
    return 'external.url is invalid: only scheme, host and port are allowed.';
  if (!allowLocal && hasLocalHost(parsed))
    return `external.url is invalid: it is ${LOCAL_ADDRESS}, where no hub is managed.`;
  return undefined;
}

function externalErrorOutcome(error: HubError): Outcome {
  const wayOut =
    error instanceof TokenRejected
      ? 'store another long-lived access token of an administrator in the Secret of external.tokenSecretRef.'
      : error instanceof HubBanned
        ? 'remove the ban on that hub (ip_bans.yaml, then a restart). The operator does not restart external hubs.'
        : undefined;
  return hubErrorOutcome(error, 'state', {
    ...(wayOut && { message: `${error.message}: ${wayOut}` }),
    status: { phase: 'Unknown' },
  });
}

/**
 * Finds out which external Hubs manage one and the same hub (rules.md, "External hubs"). The id comes from
 * the hub itself, which tells it only to a Hub with a valid token. Addresses are not compared: one address
 * has many spellings, and anyone can name one.
 */
class ExternalIdentity {
  /** Identities that the status may not show yet. */
  private readonly found: PerHub<{ readonly client: HubClient; readonly id: string | null }>;

  constructor(private readonly services: Pick<Services, 'cache'>) {
    this.found = new PerHub(services.cache);
  }

  /** The id of the hub that accepted the token of this client. Null when the hub does not tell one. */
  async of(hub: Hub, client: HubClient): Promise<string | null> {
    const known = this.found.get(hub);
    if (known?.client === client) return known.id;
    const id = (await instanceId(client.connection)) ?? null;
    this.found.set(hub, { client, id });
    return id;
  }

  /** Ends the claim of a Hub whose token is rejected, or which names another address. */
  forget({ hub, status }: Pick<HubContext, 'hub' | 'status'>): void {
    this.found.delete(hub);
    status['volumeID'] = null;
  }

  /**
   * The outcome of a Hub whose hub is managed by another Hub already. It lasts until the objects of the other
   * Hub's children are removed too.
   */
  conflict(hub: Hub, id: string | null): Outcome | undefined {
    if (id === null) return undefined;
    const owner = [...this.services.cache.list<Hub>('Hub')].find(
      (other) =>
        other.metadata.uid !== hub.metadata.uid &&
        other.spec.external !== undefined &&
        (this.found.get(other)?.id ?? other.status?.volumeID) === id &&
        isBefore(other, hub, id),
    );
    return owner && stalled('DuplicateId', duplicateMessage(hub, owner), { after: DEPENDENCY_REQUEUE });
  }
}

/**
 * Orders Hubs with the same id. A Hub that is in use keeps its hub even against an older one, since an
 * impostor host can report the id of another hub.
 */
function isBefore(first: Hub, second: Hub, id: string): boolean {
  const [isFirstInUse, isSecondInUse] = [first, second].map((hub) => isInUse(hub, id));
  return isFirstInUse === isSecondInUse ? byAge(first.metadata, second.metadata) < 0 : isFirstInUse!;
}

/** Reports whether a Hub uses the hub with this id. A Hub in conflict has no URL in its status. */
const isInUse = ({ status }: Hub, id: string): boolean => status?.volumeID === id && status.url != null;

/** The message of a conflict. Names in other namespaces are not told, since their users may be strangers. */
function duplicateMessage(hub: Hub, { metadata: { namespace, name } }: Hub): string {
  const other = namespace === hub.metadata.namespace ? `The Hub ${name}` : 'A Hub of another namespace';
  return `${other} manages the same hub already. Two Hubs would overwrite each other's settings: delete one of them.`;
}
