import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for work that this process does itself, such as reading from a socket. It counts turns of the event
 * loop instead of time, since a busy machine may stop the process for longer than any deadline.
 */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn === 10_000) throw new Error(`it never came true: ${condition}`);
    await sleep(5);
  }
}
