import type { Clock } from '../base/clock';
import type { OwnReloadTracker } from './config-entities/own-reload-tracker';
import {
  type BlueprintDomain,
  type ConfigEntityKind,
  type EntityPayload,
  isConfigEntityKind,
} from './connection/config-entity';
import type { HubConnection } from './connection/connection';
import { isUnknownCommand } from './connection/errors';

/** A blueprint in the hub's list, which does not contain its YAML text. */
export interface ListedBlueprint {
  /** The section `blueprint:` of the file; undefined if the hub cannot read the file. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

type List = ReadonlyMap<string, ListedBlueprint>;

/** Milliseconds for which a list is reused: many resources request it at the same time. */
const LIST_LASTS = 1_000;

interface SavedBlueprint {
  readonly domain: BlueprintDomain;
  readonly path: string;
  readonly yaml: string;
  readonly sourceUrl?: string | undefined;
}

/** The blueprints of one hub. */
export class Blueprints {
  private readonly lists = new Map<BlueprintDomain, Promise<List>>();

  constructor(
    private readonly connection: Pick<HubConnection, 'command'>,
    private readonly ownReloads: Pick<OwnReloadTracker, 'expect' | 'cancel'>,
    private readonly clock: Pick<Clock, 'after'>,
  ) {}

  /** Blueprints of a domain by path. The list may be up to a second old. */
  list(domain: BlueprintDomain): Promise<List> {
    const known = this.lists.get(domain);
    if (known) return known;
    const asked = this.read(domain);
    this.lists.set(domain, asked);
    const forget = () => void (this.lists.get(domain) === asked && this.lists.delete(domain));
    asked.then(
      () => this.clock.after(LIST_LASTS, forget),
      () => forget(),
    );
    return asked;
  }

  /** Causes the next list to be read from the hub. */
  invalidate(domain: BlueprintDomain): void {
    this.lists.delete(domain);
  }

  /**
   * Writes a file, in the form in which the hub dumps YAML. If the file exists, the hub reloads the entities
   * that use the blueprint, and does not report whether that succeeds.
   *
   * @param isNew whether an existing file must not be replaced
   * @returns whether a file was replaced
   * @throws HubRejected with the hub's message about the text; with the code `already_exists` if `isNew` and
   * the file exists
   */
  async save({ domain, path, yaml, sourceUrl }: SavedBlueprint, isNew: boolean): Promise<boolean> {
    const reloaded = !isNew && isConfigEntityKind(domain) ? domain : undefined;
    if (reloaded) this.ownReloads.expect(reloaded);
    try {
      const { overrides_existing: isReplaced } = await this.connection.command('blueprint/save', {
        domain,
        path,
        yaml,
        allow_override: !isNew,
        ...(sourceUrl !== undefined && { source_url: sourceUrl }),
      });
      if (!isReplaced) this.cancel(reloaded);
      return isReplaced;
    } catch (error) {
      this.cancel(reloaded);
      throw error;
    } finally {
      this.invalidate(domain);
    }
  }

  /**
   * Deletes a blueprint. The hub rejects this for one that is in use, and fails for one that does not exist.
   */
  async remove(domain: BlueprintDomain, path: string): Promise<void> {
    try {
      await this.connection.command('blueprint/delete', { domain, path });
    } finally {
      this.invalidate(domain);
    }
  }

  /**
   * Expands a blueprint with these inputs. @returns the definition
   *
   * @throws HubFailed there is no such blueprint, or an input is missing
   */
  async substitute(domain: BlueprintDomain, path: string, input: object): Promise<EntityPayload> {
    const answer = await this.connection.command('blueprint/substitute', { domain, path, input });
    return answer.substituted_config;
  }

  /**
   * Ids of the entities that use the blueprint, including entities that the hub has disabled as invalid;
   * undefined if the hub cannot tell.
   */
  async usersOf(domain: BlueprintDomain, path: string): Promise<readonly string[] | undefined> {
    if (domain === 'template') return undefined;
    try {
      const item = { item_type: `${domain}_blueprint`, item_id: path } as const;
      return ((await this.connection.command('search/related', item))[domain] ?? []).toSorted();
    } catch (error) {
      if (isUnknownCommand(error)) return undefined; // a hub without the integration search
      throw error;
    }
  }

  private async read(domain: BlueprintDomain): Promise<List> {
    return new Map(Object.entries(await this.connection.command('blueprint/list', { domain })));
  }

  private cancel(kind: ConfigEntityKind | undefined): void {
    if (kind) this.ownReloads.cancel(kind);
  }
}
