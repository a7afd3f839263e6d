import type { HubPresence } from '../../../operator/client/hub-presence';

/** Reports whether a fake hub runs. */
export class FakePresence implements Pick<HubPresence, 'epoch' | 'isRunning' | 'hasRunSince'> {
  epoch = 0;
  runs = true;

  /** From now on the hub counts as another process. */
  restart(): void {
    this.epoch += 1;
  }

  isRunning(): Promise<boolean> {
    return Promise.resolve(this.runs);
  }

  hasRunSince(epoch: number): Promise<boolean> {
    return Promise.resolve(this.runs && epoch === this.epoch);
  }
}
