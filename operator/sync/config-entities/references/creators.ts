import type { EntityPayload } from '../../../client/connection/config-entity';
import { domainOf } from '../../../client/connection/entity-id';
import type { Child } from '../../objects/child';
import type { Services } from '../../services';
import { type References, referencesOf } from './extract';

const KINDS = ['HubAutomation', 'HubScript'] as const;
const CREATED_DOMAINS: ReadonlySet<string> = new Set(['scene', 'group']);

/** The scenes and groups that actions of a hub create: an entity of that kind is not there before its action has run. */
export class Creators {
  private readonly created = new WeakMap<Child['spec'], ReadonlySet<string>>();

  constructor(private readonly cache: Services['cache']) {}

  /** The definition that the hub runs, with its blueprint filled in, may create more than the spec shows. */
  record({ spec }: Child, { created }: References): void {
    this.created.set(spec, created);
  }

  /** Whether an action of any automation or script of the resource's hub creates the entity. */
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
