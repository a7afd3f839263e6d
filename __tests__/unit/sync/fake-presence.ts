import type { HubPresence } from '../../../operator/client/hub-presence';

/** Whether a fake hub runs. */
export class FakePresence implements Pick<HubPresence, 'epoch' | 'isRunning' | 'hasRunSince'> {
  epoch = 0;
  runs = true;

  /** The hub is another process from now on. */
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
