import type { BoundedTasks } from '../operator/base/bounded-task';
import type { Clock } from '../operator/base/clock';
import { BoundedTexts } from '../operator/process/texts/bounded-texts';
import { silentLog } from './hub/silent-log';
import { textProgram } from './text-program';
import { removeUnfinished } from './yaml/replace-file';

/** Signals with which a user or a pipeline ends a command. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Provides `work` with a reader of texts within limits. A signal that ends the command first ends the process
 * that reads texts: while it reads, that process would not notice that the command has ended.
 */
export async function withTexts<T>(clock: Clock, work: (texts: BoundedTasks) => Promise<T>): Promise<T> {
  const texts = new BoundedTexts({ clock, log: silentLog, program: textProgram });
  const forget = () => ENDINGS.forEach((each) => process.off(each, end));
  const end = (signal: NodeJS.Signals): void => {
    texts.close();
    forget();
    removeUnfinished(); // the signal ends the process without its event exit
    process.kill(process.pid, signal);
  };
  ENDINGS.forEach((each) => process.on(each, end));
  try {
    return await work(texts);
  } finally {
    forget();
    texts.close();
  }
}
