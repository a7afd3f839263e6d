import { isDeepStrictEqual } from 'node:util';
import type { Bounded } from '../../../base/bounded-task';
import { DEPENDENCY_REQUEUE, TEXT_WAIT } from '../../../base/limits';
import type { HubConfiguration } from '../../../kinds';
import type { Services } from '../../services';
import type { ConfigurationSource, Generated } from './generate';
import { endedMessage, textsOfHub } from './texts';

type Generation =
  | Generated
  /**
   * The result is not known yet. `message`: a sentence that says why. `after`: milliseconds until the next
   * attempt.
   */
  | { readonly type: 'waiting'; readonly message: string; readonly after: number };

interface Entry {
  readonly of: HubConfiguration['metadata'];
  readonly source: ConfigurationSource;
  readonly pending: Promise<Bounded<Generated>>;
  /**
   * Takes an outdated text, or the text of a deleted resource, out of the queue, which would otherwise grow
   * with each change.
   */
  readonly giveUp: () => void;
  result?: Bounded<Generated>;
}

/** Milliseconds until an aborted text is tried again, after all texts that wait. */
const RETRY = 1_000;

/**
 * Caches the generated configuration of each resource. A configuration of 512 KiB takes seconds to parse, and
 * is reconciled often while a hub loads it.
 */
export class GeneratedConfigurationCache {
  /** Texts in work and generated configurations, by the uid of the HubConfiguration. */
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue' | 'texts'>) {}

  async generate(resource: HubConfiguration, source: ConfigurationSource): Promise<Generation> {
    const known = this.entries.get(resource.metadata.uid);
    const isSame = known && isDeepStrictEqual(known.source, source);
    const isToRepeat = known?.result?.type === 'ended' && !known.result.isFinal;
    const entry = isSame && !isToRepeat ? known : this.begin(resource, source);
    const result = entry.result ?? (await this.resultWithin(TEXT_WAIT, entry));
    if (result?.type === 'done') return result.output;
    if (result === undefined) {
      const message = 'The configuration waits until the texts of other hubs are read.';
      // An error is logged when the text is read again.
      void entry.pending.finally(() => this.requeue(resource)).catch(() => undefined);
      return { type: 'waiting', message, after: DEPENDENCY_REQUEUE };
    }
    const message = endedMessage(result);
    if (result.isFinal) return { type: 'invalid', message };
    return {
      type: 'waiting',
      message: `${message} The machine may have been busy: it is read once more, after the texts of other hubs.`,
      after: RETRY,
    };
  }

  private begin({ metadata, spec }: HubConfiguration, source: ConfigurationSource): Entry {
    for (const [each, { of, giveUp }] of this.entries)
      if (this.services.cache.get('HubConfiguration', of.namespace, of.name)?.metadata.uid !== each) {
        giveUp(); // a deleted resource
        this.entries.delete(each);
      }
    this.entries.get(metadata.uid)?.giveUp();
    const texts = textsOfHub(this.services, metadata.namespace, spec.hubRef.name);
    const abort = new AbortController();
    const entry: Entry = {
      of: metadata,
      source,
      pending: texts.generate(source, abort.signal),
      giveUp: () => abort.abort(),
    };
    this.entries.set(metadata.uid, entry);
    entry.pending.then(
      (result) => (entry.result = result),
      () => this.entries.get(metadata.uid) === entry && this.entries.delete(metadata.uid),
    );
    return entry;
  }

  /**
   * The result of an entry.
   *
   * @returns undefined when it takes longer than `delay` milliseconds
   */
  private async resultWithin(delay: number, { pending }: Entry): Promise<Bounded<Generated> | undefined> {
    let cancel = (): void => undefined;
    const timeout = new Promise<undefined>((resolve) => {
      cancel = this.services.clock.after(delay, () => resolve(undefined));
    });
    return Promise.race([pending, timeout]).finally(cancel);
  }

  private requeue({ kind, metadata: { namespace, name } }: HubConfiguration): void {
    this.services.requeue(kind, namespace, name);
  }
}
