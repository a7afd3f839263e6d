import { undefinedIf } from '../../base/undefined-if';
import { FollowedCollection } from '../connection/collection';
import type { HubConnection } from '../connection/connection';
import { isUnknownCommand } from '../connection/errors';
import type { RepairIssue, IssueEvent } from '../connection/api-types';

/** Domains whose entities the hub disables when it finds their definition invalid. */
const DOMAINS: readonly string[] = ['automation', 'script'];
/**
 * Called when the hub has disabled an automation or script as invalid, or no longer reports it as invalid.
 */
export type ValidityListener = (entityId: string) => void;

const TRANSLATION_KEY = 'validation_failed_';
/** Beginning of an issue id; the section and the integration follow. */
const UNSUPPORTED_PLATFORM = 'platform_integration_no_support_';

/**
 * Automations and scripts that the hub has disabled as invalid, with the reason. Such an entity is
 * `unavailable` and still has its definition, so only the hub's repair issue shows the problem. The issues
 * are read again after each change.
 */
export class RepairIssues {
  private readonly listeners = new Set<ValidityListener>();
  /** The hub's reasons, by entity id. */
  private readonly errors: FollowedCollection<string>;

  constructor(private readonly connection: HubConnection) {
    this.errors = new FollowedCollection<string>(connection, {
      name: 'repair issues',
      fetch: async () => errorsOf(await this.list()),
      subscribe: () =>
        connection.subscribeEvents('repairs_issue_registry_updated', (data) => this.onUpdated(data)),
    });
  }

  /**
   * The hub's reason for disabling this automation or script, which may quote the definition; undefined if it
   * is valid.
   */
  async validationErrorOf(entityId: string): Promise<string | undefined> {
    return (await this.errors.get()).get(entityId);
  }

  /**
   * Filters platforms in YAML, such as `sensor.template`: returns those that their integration does not set
   * up. The hub keeps such an issue until it restarts, even if the platform was removed from the files.
   */
  async unsupportedPlatforms(platforms: readonly string[]): Promise<string[]> {
    if (platforms.length === 0) return [];
    const ids = new Set((await this.list()).filter(isOfHub).map(({ issue_id: id }) => id));
    return platforms.filter((each) => ids.has(`${UNSUPPORTED_PLATFORM}${each.replace('.', '_')}`));
  }

  onChange(listener: ValidityListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private async list(): Promise<readonly RepairIssue[]> {
    const answer = undefinedIf(isUnknownCommand, this.connection.command('repairs/list_issues'));
    return (await answer)?.issues ?? []; // undefined without the integration `repairs`
  }

  private onUpdated({ domain, issue_id: issueId }: IssueEvent): void {
    const end = issueId.indexOf(`_${TRANSLATION_KEY}`);
    if (!DOMAINS.includes(domain) || end < 0) return;
    this.errors.invalidate();
    for (const listener of this.listeners) listener(issueId.slice(0, end));
  }
}

const isOfHub = ({ domain }: RepairIssue): boolean => domain === 'homeassistant';

function errorsOf(issues: readonly RepairIssue[]): Map<string, string> {
  const errors = new Map<string, string>();
  for (const { domain, translation_key: key, translation_placeholders: values } of issues) {
    const entityId = values?.['entity_id'];
    if (!DOMAINS.includes(domain) || !key.startsWith(TRANSLATION_KEY) || typeof entityId !== 'string')
      continue;
    errors.set(entityId, String(values?.['error'] ?? key));
  }
  return errors;
}
