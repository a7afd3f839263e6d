import type { HubClient } from '../../../client/hub-client';
import { instanceId } from '../../../client/setup/instance-id';
import type { Hub } from '../../../kinds/index';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { byAge } from '../../../runtime/age';
import { type Outcome, stalled } from '../../../runtime/outcome';
import { PerHub } from '../../hub-access/per-hub';
import type { Services } from '../../services';
import type { HubContext } from '../steps';

/**
 * Finds out which external Hubs are one and the same hub (rules.md, "External hubs"). The hub itself says who it is, and only to
 * a Hub with a valid token: an address has many spellings, and everyone can name one.
 */
export class ExternalIdentity {
  /** Identities that the status may not show yet. */
  private readonly found: PerHub<{ readonly client: HubClient; readonly id: string | null }>;

  constructor(private readonly services: Pick<Services, 'cache'>) {
    this.found = new PerHub(services.cache);
  }

  /** The identity of the hub that accepted the token of this client; null: the hub does not say. */
  async of(hub: Hub, client: HubClient): Promise<string | null> {
    const known = this.found.get(hub);
    if (known?.client === client) return known.id;
    const id = (await instanceId(client.connection)) ?? null;
    this.found.set(hub, { client, id });
    return id;
  }

  /** The Hub has no claim any more: the hub rejects its token, or it names another address. */
  forget({ hub, status }: Pick<HubContext, 'hub' | 'status'>): void {
    this.found.delete(hub);
    status['volumeID'] = null;
  }

  /** The outcome of a Hub whose hub belongs to another one, until the objects of the other's children are removed as well. */
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

/** A Hub in use keeps its hub, also against an older one: a host can name the id of a hub that is not its own. */
function isBefore(first: Hub, second: Hub, id: string): boolean {
  const [isFirstInUse, isSecondInUse] = [first, second].map((hub) => isInUse(hub, id));
  return isFirstInUse === isSecondInUse ? byAge(first.metadata, second.metadata) < 0 : isFirstInUse!;
}

/** A Hub in conflict has no URL in its status. */
const isInUse = ({ status }: Hub, id: string): boolean => status?.volumeID === id && status.url != null;

/** No name of another namespace is told: its users may be strangers. */
function duplicateMessage(hub: Hub, { metadata: { namespace, name } }: Hub): string {
  const other = namespace === hub.metadata.namespace ? `The Hub ${name}` : 'A Hub of another namespace';
  return `${other} manages the same hub already. Two Hubs would overwrite each other's settings: delete one of them.`;
}
