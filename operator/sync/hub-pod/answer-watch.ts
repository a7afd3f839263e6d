import { HubError } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../base/clock';
import { FINALIZER_SKIP, FINALIZER_TRY } from '../../base/limits';

/** Milliseconds between an answer of the hub and the next request. */
const PAUSE = 1_000;
/** Milliseconds after which a removal that is not continued counts as ended. */
const PENDING = 2 * FINALIZER_TRY;

/**
 * Polls a hub while resources of it are being removed. All removals share the request and its time limit,
 * which begins with the deletion (rules.md, "Finalizers"). Times are of the monotonic clock.
 */
export class AnswerWatch {
  /**
   * Removals that are due or have begun, by the uid of the resource. The value is the time until which a
   * removal counts.
   */
  private readonly pending = new Map<string, number>();
  private skippedUntil = -Infinity;
  /** Resolves with whether the hub has answered the current request. Undefined while there is no request. */
  private question: Promise<boolean> | undefined;
  private isRunning = false;

  /**
   * @param onSilence called when the hub does not answer, with the resources whose removal is due or has
   * begun
   */
  constructor(
    private readonly clock: Clock,
    private readonly onSilence: (uids: readonly string[]) => void,
  ) {}

  /**
   * True while the hub counts as not responding, because it did not answer a moment ago. Requests are skipped
   * then.
   */
  get isSkipped(): boolean {
    return this.skippedUntil > this.clock.monotonic();
  }

  /** Records that the removal of a resource is due, or goes on. */
  begin(uid: string, client: Pick<HubClient, 'rest'>): void {
    if (this.isSkipped) return this.onSilence([uid]);
    this.pending.set(uid, this.clock.monotonic() + PENDING);
    if (!this.isRunning) void this.run(client);
  }

  end(uid: string): void {
    this.pending.delete(uid);
  }

  /** Reports whether the hub answers the current request. If there is none, a request is sent. */
  answers(client: Pick<HubClient, 'rest'>): Promise<boolean> {
    return this.isSkipped ? Promise.resolve(false) : this.ask(client);
  }

  private async run(client: Pick<HubClient, 'rest'>): Promise<void> {
    this.isRunning = true;
    try {
      while ((await this.ask(client)) && this.present().length > 0) await this.clock.sleep(PAUSE);
    } finally {
      this.isRunning = false;
    }
  }

  private present(): readonly string[] {
    const now = this.clock.monotonic();
    for (const [uid, until] of this.pending) if (until <= now) this.pending.delete(uid);
    return [...this.pending.keys()];
  }

  private ask(client: Pick<HubClient, 'rest'>): Promise<boolean> {
    this.question ??= this.request(client).finally(() => (this.question = undefined));
    return this.question;
  }

  private async request({ rest }: Pick<HubClient, 'rest'>): Promise<boolean> {
    try {
      await rest.get('/manifest.json', { token: null, timeout: FINALIZER_TRY });
      return true;
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      const uids = this.present();
      this.pending.clear();
      if (uids.length > 0) this.skippedUntil = this.clock.monotonic() + FINALIZER_SKIP;
      this.onSilence(uids);
      return false;
    }
  }
}
