import type { HubClient } from '../../../client/hub-client';
import { errorOf, Stopping } from '../../../errors';
import type { Hub, HubConfiguration } from '../../../kinds';
import { REJECTED_WRITE_RETRY_INTERVAL } from '../../../limits';
import { assertStillDesired } from '../../assert-still-desired';
import { hubRedactor } from '../../hub-secrets';
import { PerHub } from '../../per-hub';
import { readGeneratedSecrets } from '../../secrets/generated-secrets';
import type { Services } from '../../services';
import type { Accepted, AcceptedConfigurations } from '../record/accepted-configuration';
import type { Content } from '../generate/configuration-content';
import { HubLoader, type LoadResult } from './hub-loader';
import type { PodReplacement } from '../pod-replacement';
import type { RestartHashes } from '../record/publish';
import type { ReloadPolicy } from './reload-decision';
import { RestartDebounce } from './restart-debounce';

/** A content that a hub is to have. */
export interface DesiredContent {
  readonly resource: HubConfiguration;
  readonly content: Content;
  readonly policy: ReloadPolicy;
}

/** A load of a content into a hub. */
interface Load {
  /** Identifies the content and the reload policy. */
  readonly key: string;
  state: LoadState;
}

type LoadState =
  | { readonly type: 'running' }
  | CompletedLoad
  /** Nothing is known of the content. */
  | { readonly type: 'failed'; readonly error: Error };

export interface CompletedLoad {
  readonly type: 'completed';
  readonly result: LoadResult;
  /** When it ended, by the monotonic clock. */
  readonly at: number;
}

/** The last load of each hub. A load outlives the reconcile that starts it, and requeues its resource when it ends. */
export class LoadJobs {
  private readonly loader: HubLoader;
  private readonly loads: PerHub<Load>;
  private readonly debounce: RestartDebounce;
  private readonly closing = new AbortController();

  constructor(
    private readonly services: Services,
    accepted: AcceptedConfigurations,
    private readonly pods: PodReplacement,
  ) {
    this.loader = new HubLoader(services, accepted);
    this.loads = new PerHub(services.cache);
    this.debounce = new RestartDebounce(services);
  }

  /** Aborts all loads. The next process repeats them. */
  close(): void {
    this.closing.abort(new Stopping('the operator stops'));
  }

  isLoading(hub: Hub): boolean {
    return this.loads.get(hub)?.state.type === 'running';
  }

  /**
   * The last load, if it was of this content and has ended.
   *
   * @throws the error that it failed with, once
   */
  completed(desired: DesiredContent, hub: Hub): CompletedLoad | undefined {
    const load = this.loads.get(hub);
    if (load?.key !== loadKey(desired)) return undefined;
    const { state } = load;
    if (state.type === 'failed') {
      this.loads.delete(hub);
      throw state.error;
    }
    return state.type === 'completed' ? state : undefined;
  }

  /** A rejection is final: another content, another start of the hub or a request of a person ends it. */
  isRecent({ at, result }: CompletedLoad): boolean {
    return result.type === 'rejected' || this.services.clock.monotonic() - at < REJECTED_WRITE_RETRY_INTERVAL;
  }

  /** @param fellBack the pod started with the last good copy on its volume */
  start(
    desired: DesiredContent,
    hub: Hub,
    client: HubClient,
    accepted: Accepted | undefined,
    fellBack: boolean,
  ): void {
    const { services } = this;
    const { namespace, name } = desired.resource.metadata;
    const load: Load = { key: loadKey(desired), state: { type: 'running' } };
    this.loads.set(hub, load);
    const run = async () => {
      const job = {
        ...desired,
        hub,
        client,
        accepted,
        fellBack,
        redact: await hubRedactor(services, hub),
        isPodOf: (restart: RestartHashes) => this.pods.isPodOf(hub, restart),
        hasChanged: () => this.hasChanged(desired),
        shouldDelayRestart: async () => this.debounce.shouldDelay(hub, await this.hasChanged(desired)),
        assertStillDesired: () => assertStillDesired(services, desired.resource),
      };
      return this.loader.load(job, this.closing.signal);
    };
    const end = (state: LoadState) => {
      load.state = state;
      services.requeue(desired.resource.kind, namespace, name);
    };
    run().then(
      (result) => end({ type: 'completed', result, at: services.clock.monotonic() }),
      (error: unknown) => {
        end({ type: 'failed', error: errorOf(error) });
        if (error instanceof Stopping) this.loads.delete(hub); // says nothing of the content
      },
    );
  }

  /** Whether the next reconcile has another content, since the resource or a secret has changed. */
  private async hasChanged({ resource, content }: DesiredContent): Promise<boolean> {
    const { namespace, name, generation } = resource.metadata;
    const latest = this.services.cache.get<HubConfiguration>(resource.kind, namespace, name);
    if (latest !== undefined && latest.metadata.generation !== generation) return true;
    const secrets = await readGeneratedSecrets(this.services, namespace, resource.spec.hubRef.name);
    return secrets?.hash !== content.marker.secrets;
  }
}

const loadKey = ({ content, policy }: DesiredContent): string =>
  `${content.marker.configuration} ${content.marker.secrets} ${policy.strategy} ${policy.autoRestart}`;
