import type { EntityPayload } from '../../../client/connection/config-entity';
import { domainOf } from '../../../client/connection/entity-id';
import type { Child } from '../../objects/child';
import type { Services } from '../../services';
import { type References, referencesOf } from './extract';

const KINDS = ['HubAutomation', 'HubScript'] as const;
const CREATED_DOMAINS: ReadonlySet<string> = new Set(['scene', 'group']);

/**
 * The scenes and groups that actions in definitions of a hub create. Such an entity does not exist before its
 * action has run.
 */
export class Creators {
  private readonly created = new WeakMap<Child['spec'], ReadonlySet<string>>();

  constructor(private readonly cache: Services['cache']) {}

  /**
   * Records the references of the definition that the hub runs: with its blueprint filled in, it may create
   * more than the spec shows.
   */
  record({ spec }: Child, { created }: References): void {
    this.created.set(spec, created);
  }

  /** Reports whether an action of any automation or script of the resource's hub creates the entity. */
  isCreated(entityId: string, { metadata: { namespace }, spec: { hubRef } }: Child): boolean {
    if (!CREATED_DOMAINS.has(domainOf(entityId))) return false;
    for (const kind of KINDS)
      for (const { spec } of this.cache.ofHub<Child>(kind, namespace, hubRef.name))
        if (this.createdBy(spec).has(entityId)) return true;
    return false;
  }

  private createdBy(spec: Child['spec']): ReadonlySet<string> {
    let created = this.created.get(spec);
    if (!created) {
      created = referencesOf(spec as unknown as EntityPayload).created;
      this.created.set(spec, created);
    }
    return created;
  }
}
