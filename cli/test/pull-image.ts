import { truncate } from '../../operator/base/truncate';
import { CommandError } from '../command-error';
import { oneLine } from '../output';
import { Child } from './child';
import { type Launch, WAYS_TO_PYTHON } from './launch';

/**
 * Pulls the image of a container, if the machine does not have the image.
 *
 * @throws CommandError
 */
export async function pullImage(
  { container }: Launch,
  signal: AbortSignal,
  report: (text: string) => void,
): Promise<void> {
  if (!container) return;
  const { engine, image } = container;
  const has = new Child(engine, ['image', 'inspect', image]);
  has.stdout.resume();
  if ((await has.end).code === 0) return;
  report(`Pulling ${image}, once`);
  const pull = new Child(engine, ['pull', image]);
  pull.stdout.resume();
  const onAbort = () => pull.kill();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) pull.kill();
  const { code, error } = await pull.end.finally(() => signal.removeEventListener('abort', onAbort));
  signal.throwIfAborted();
  if (code === 0) return;
  const cause = truncate(oneLine(error?.message ?? pull.lastLine), 240).replace(/[.:]$/, '');
  throw new CommandError(
    `cannot pull ${image}${cause === '' ? '' : `: ${cause}`}: choose another version with --hub-version or an image of your registry with --image, or ${WAYS_TO_PYTHON}`,
  );
}
