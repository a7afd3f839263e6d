import { Timer } from '../base/timer';
import { Informer } from './informer';
import type { InformerOptions } from './informer-options';
import { objectKey } from './object-key';
import type { ClusterObject } from './objects';
import { builtin } from './types';

interface Options extends Pick<
  InformerOptions<ClusterObject>,
  'clock' | 'cluster' | 'freeze' | 'log' | 'onFailure' | 'onOldBookmark' | 'onRestore'
> {
  readonly labelSelector: string;
  /** Lists all kinds again. Resolves when every list has arrived. */
  readonly relist: () => Promise<void>;
  /** Removes the objects of a namespace from the cache. */
  readonly drop: (namespace: string) => void;
}

interface Joining {
  readonly complete: Promise<void>;
  readonly announce: () => void;
}

/** Milliseconds. Namespaces that are labelled within this time cause only one list of each kind. */
const SELECTION_PAUSE = 200;
/**
 * After the lists for a new namespace, a pause of this many times their duration follows. Lists then take at
 * most a tenth of the time, even if two tools keep adding and removing the label.
 */
const PAUSE_PER_LIST = 9;
const LONGEST_PAUSE = 60_000;

/** The namespaces with a label, which may change while the operator runs (rules.md, "Watches and cache"). */
export class NamespaceSelection {
  readonly informer: Informer<ClusterObject>;
  /** Namespaces that have just got the label and may not be listed completely. */
  private readonly joining = new Map<string, Joining>();
  private readonly pause: Timer;
  private isListing = false;
  /** Earliest time for the next lists of all kinds, by the monotonic clock. */
  private notBefore = -Infinity;
  /**
   * Whether the first list of namespaces has arrived. The first lists of all kinds begin afterwards and
   * include these namespaces.
   */
  private hasBegun = false;

  constructor(private readonly options: Options) {
    const { clock, cluster, freeze, labelSelector, log, onFailure, onOldBookmark, onRestore } = options;
    this.pause = new Timer(clock);
    this.informer = new Informer({
      clock,
      cluster,
      log,
      labelSelector,
      ...(freeze !== undefined && { freeze }),
      ...(onFailure && { onFailure }),
      ...(onRestore && { onRestore }),
      ...(onOldBookmark && { onOldBookmark }),
      type: builtin.Namespace,
      metadataOnly: true,
      onChange: ({ type, object }) => {
        if (type === 'added' && this.hasBegun) this.join(object.metadata.name);
        else if (type === 'deleted') this.leave(object.metadata.name);
      },
    });
    void this.informer.waitForCacheSync().then(() => (this.hasBegun = true));
    this.informer.start();
  }

  selects(namespace: string): boolean {
    return this.informer.store.get(objectKey(builtin.Namespace.kind, '', namespace)) !== undefined;
  }

  /**
   * Resolves when all kinds of a namespace are listed. @returns undefined if they are, or if the namespace is
   * not selected
   */
  waitForNamespace(namespace: string): Promise<void> | undefined {
    return this.joining.get(namespace)?.complete;
  }

  private join(namespace: string): void {
    let announce!: () => void;
    const complete = new Promise<void>((resolve) => (announce = resolve));
    this.joining.set(namespace, { complete, announce });
    this.schedule();
  }

  /**
   * Schedules lists of all kinds. Running lists are not restarted: if namespaces were labelled faster than
   * lists end, no list would end.
   */
  private schedule(): void {
    if (this.isListing || this.pause.pending) return;
    const delay = Math.max(SELECTION_PAUSE, this.notBefore - this.options.clock.monotonic());
    this.pause.set(delay, () => void this.listAll());
  }

  private leave(namespace: string): void {
    this.end(namespace);
    this.options.drop(namespace);
  }

  private async listAll(): Promise<void> {
    const { clock, relist } = this.options;
    const joining = [...this.joining];
    if (joining.length === 0) return; // all have lost the label again
    this.isListing = true;
    const began = clock.monotonic();
    await relist();
    const now = clock.monotonic();
    this.notBefore = now + Math.min(PAUSE_PER_LIST * (now - began), LONGEST_PAUSE);
    this.isListing = false;
    for (const [namespace, each] of joining) if (this.joining.get(namespace) === each) this.end(namespace);
    if (this.joining.size > 0) this.schedule();
  }

  private end(namespace: string): void {
    this.joining.get(namespace)?.announce();
    this.joining.delete(namespace);
  }
}
