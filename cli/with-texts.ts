import type { BoundedTasks } from '../operator/base/bounded-task';
import type { Clock } from '../operator/base/clock';
import { BoundedTexts } from '../operator/process/texts/bounded-texts';
import { silentLog } from './hub/silent-log';
import { textProgram } from './text-program';

/** Reads texts within bounds as long as the work runs. */
export async function withTexts<T>(clock: Clock, work: (texts: BoundedTasks) => Promise<T>): Promise<T> {
  const texts = new BoundedTexts({ clock, log: silentLog, program: textProgram });
  try {
    return await work(texts);
  } finally {
    texts.close();
  }
}
