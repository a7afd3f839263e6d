import { timestamp } from '../../../operator/base/clock';
import { operatorAnnotations } from '../../../operator/kinds/annotations';
import { filesOf } from '../../../operator/sync/configuration/generate/file-keys';
import type { ManualClock } from '../manual-clock';
import type { ConfigMap, ConfigMaps } from './config-maps';
import type { Operators } from './operators';

const CONFIGURATION = 'villa-configuration';
const DELIVERY = /^villa-delivery-\d$/;

/** Returns the termination message of `prepare-config`. */
export const prepareMessage = (result: string, content: object, ...problems: readonly string[]) =>
  JSON.stringify({
    result,
    version: '2026.11.0',
    content,
    problems: problems.map((text) => ({ kind: 'error', text })),
  });

/** Returns the ConfigMaps with delivered definitions that the pod template names. */
export const deliveriesIn = (configMaps: ReadonlyMap<string, ConfigMap>) =>
  [...configMaps].filter(([name]) => DELIVERY.test(name));

/** The pod of the hub `villa`, the files that it mounts, and the template that it is made of. */
export class Pod {
  /** Whether the kubelet updates the files of the pod. */
  refreshes = true;
  /** Milliseconds that the kubelet takes for an update. */
  refreshTime = 0;
  /**
   * Whether the hub ignores the files that its pod mounts until the next pod, because a backup has restored
   * old files.
   */
  readsOldFiles = false;
  /** The image of the next pod. */
  image = 'home-assistant:2026.11.0';
  /** The verdict of `prepare-config` at the start of the pod. */
  verdict: string | undefined;
  /** Whether the hub never finishes its start. */
  hangs = false;
  /** Whether the process of the hub ends at each start. */
  isCrashing = false;
  /** Number of times in a row that the process has ended. */
  ends = 4;
  /** Whether the Hub has not copied a new decision to the pod template yet, as during the debounce. */
  holdsRollouts = false;
  /** Time at which the process of the hub was started. */
  containerStarted = '';
  /** The ConfigMaps that the processes in the pod read. */
  mounted: ReadonlyMap<string, ConfigMap> = new Map();
  private begunWith: object = {};
  private restartHash: string | undefined;
  private pods = 0;
  private restarts = 0;
  private created = '';
  private createdImage = '';

  constructor(
    private readonly clock: ManualClock,
    private readonly configMaps: ConfigMaps,
    private readonly operators: Operators,
  ) {}

  /** The ConfigMaps with delivered definitions that the hub reads. */
  get deliveries(): readonly (readonly [string, ConfigMap])[] {
    return deliveriesIn(this.mounted);
  }

  /** The text of configuration.yaml in the pod. */
  get configuration(): string {
    return filesOf(this.mounted.get(CONFIGURATION)?.data ?? {})['configuration.yaml'] ?? '';
  }

  /** Updates the files in the pod. */
  mount(): void {
    this.mounted = new Map(this.configMaps);
  }

  /** The operator annotates the pod, so that the kubelet updates the files. */
  refresh(): void {
    this.operators.step('refresh');
    if (!this.refreshes) return;
    if (this.refreshTime > 0) this.clock.after(this.refreshTime, () => this.mount());
    else this.mount();
  }

  /**
   * Makes another pod.
   *
   * @param begunWith hashes in the verdict of `prepare-config`
   */
  replace(begunWith: object): void {
    this.pods += 1;
    this.restarts = -1;
    this.created = timestamp(this.clock.now());
    this.createdImage = this.image;
    this.verdict = undefined;
    this.readsOldFiles = false;
    this.begunWith = begunWith;
  }

  /** Starts the container of the hub once more. */
  startContainer(): void {
    this.restarts += 1;
    this.containerStarted = timestamp(this.clock.now());
  }

  /**
   * Copies the restart hash to the pod template, as the Hub does. Returns whether it is a new one, for which
   * the pod is replaced.
   */
  followTemplate(): boolean {
    if (this.holdsRollouts) return false;
    const { annotations = {} } = this.configMaps.get(CONFIGURATION)!.metadata;
    const hashes = [
      annotations[operatorAnnotations.restartHash],
      annotations[operatorAnnotations.restartSecretsHash],
    ];
    const restartHash = hashes.filter((hash) => hash !== undefined).join(' ');
    const isNew = restartHash !== this.restartHash;
    this.restartHash = restartHash;
    return isNew;
  }

  get statefulSet() {
    return { metadata: {}, spec: { template: { metadata: { annotations: this.templateAnnotations } } } };
  }

  /** The pod as an object of the cluster. */
  get object() {
    const message = this.verdict ?? prepareMessage('loaded', this.begunWith);
    return {
      metadata: {
        name: 'villa-0',
        uid: `pod-${this.pods}`,
        creationTimestamp: this.created,
        annotations: this.templateAnnotations,
      },
      spec: { containers: [{ name: 'hub', image: this.createdImage }] },
      status: {
        initContainerStatuses: [{ name: 'prepare-config', state: { terminated: { exitCode: 0, message } } }],
        containerStatuses: [this.isCrashing ? this.crashedContainer : this.runningContainer],
      },
    };
  }

  private get templateAnnotations() {
    const [configuration, secrets] = this.restartHash?.split(' ') ?? [];
    return {
      [operatorAnnotations.configHash]: configuration,
      ...(secrets !== undefined && { [operatorAnnotations.secretsHash]: secrets }),
    };
  }

  private get runningContainer() {
    return {
      name: 'hub',
      started: !this.hangs,
      restartCount: this.restarts,
      state: { running: { startedAt: this.containerStarted } },
    };
  }

  private get crashedContainer() {
    const message = 'loading\nFatal Python error: Segmentation fault';
    return {
      name: 'hub',
      started: false,
      restartCount: this.restarts + this.ends - 1,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 139, reason: 'Error', message } },
    };
  }
}
