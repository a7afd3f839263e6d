import { type BoundedTask, type BoundedTasks, runTwice } from '../../operator/base/bounded-task';
import { isPlainYaml } from '../../operator/base/plain-yaml';
import { isSame, readingsOf } from './readings';

interface Texts {
  /** The text that the user wrote. */
  readonly former: string;
  readonly text: string;
}

export const sameObjectTask: BoundedTask<Texts, boolean> = {
  name: 'sameObject',
  run: compare,
  inPlace: (given) => (isPlainYaml(given.former) ? compare(given) : undefined),
};

/**
 * Whether both texts have the same meaning for each kind of reader. A text that exceeds the limits of time or
 * memory for reading counts as different.
 */
export async function isSameObject(texts: BoundedTasks, given: Texts): Promise<boolean> {
  const read = await runTwice(texts, sameObjectTask, given, '');
  return read.type === 'done' && read.output;
}

function compare({ former, text }: Texts): boolean {
  return isSame(readingsOf(former), readingsOf(text));
}
