import { randomBytes } from 'node:crypto';
import type { BlueprintDomain } from '../../../client/connection/config-entity';
import { HubFailed, HubRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { CHECK_FOLDER } from '../../../kinds/blueprint-path';

const CHECK = new RegExp(`^${CHECK_FOLDER}/[0-9a-f]{64}[.]yaml$`);

/**
 * Maximum number of paths that are remembered, since a list of the hub that was read earlier may still
 * contain removed copies.
 */
const MOST_OWN = 1_000;

/**
 * Saves texts in the hub as temporary copies. They show how the hub reads a text, before it replaces another
 * one.
 */
export class Checks {
  /** Paths of the copies that this process made, except those whose removal failed. */
  private readonly own = new Set<string>();

  constructor(private readonly client: Pick<HubClient, 'blueprints'>) {}

  /**
   * Runs `work` with the path of a temporary copy, then removes the copy.
   *
   * @throws HubRejected with the hub's message about the text
   */
  async withCopy<T>(
    text: {
      readonly domain: BlueprintDomain;
      readonly yaml: string;
      readonly sourceUrl?: string | undefined;
    },
    work: (path: string) => Promise<T>,
  ): Promise<T> {
    const { blueprints } = this.client;
    const path = `${CHECK_FOLDER}/${randomBytes(32).toString('hex')}.yaml`;
    this.remember(path);
    try {
      await blueprints.save({ ...text, path }, true);
    } catch (error) {
      this.own.delete(path); // the hub may have saved the copy, so it is cleaned up later
      throw error;
    }
    return await work(path).finally(() => this.remove(text.domain, path));
  }

  /** Removes copies that remain from a killed process. Blueprints under other paths are not touched. */
  async clean(domain: BlueprintDomain, paths: Iterable<string>): Promise<void> {
    for (const path of paths) {
      if (!CHECK.test(path) || this.own.has(path)) continue;
      this.remember(path);
      await this.remove(domain, path).catch((error: unknown) => {
        if (!(error instanceof HubFailed || error instanceof HubRejected)) throw error;
      });
    }
  }

  private async remove(domain: BlueprintDomain, path: string): Promise<void> {
    try {
      await this.client.blueprints.remove(domain, path);
    } catch (error) {
      this.own.delete(path);
      throw error;
    }
  }

  private remember(path: string): void {
    this.own.add(path);
    const [oldest] = this.own;
    if (this.own.size > MOST_OWN && oldest !== undefined) this.own.delete(oldest);
  }
}
