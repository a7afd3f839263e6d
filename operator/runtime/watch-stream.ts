import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock';
import { messageOf } from '../base/errors';
import { Timer } from '../base/timer';
import { ApiError, ApiServerUnreachable } from './api-errors';
import { parseObjects } from './json';

/** An event of a watch. An ERROR event is thrown as {@link ApiError}. */
interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/**
 * Milliseconds. Servers send bookmarks every minute, the first one after two minutes. If a watch is idle for
 * longer, its connection may be half-open.
 */
export const WATCH_IDLE_TIMEOUT = 150_000;

/**
 * No data arrived within {@link WATCH_IDLE_TIMEOUT}. Since bookmarks are optional, a watch without changes
 * may also be idle.
 */
export class WatchIdleTimeout extends ApiServerUnreachable {}

/**
 * Yields the events of a watch until the server ends it. The stream is destroyed when the iteration ends.
 *
 * @param onActivity called for each chunk that arrives
 * @throws ApiError the server sent an ERROR event
 * @throws WatchIdleTimeout
 * @throws ApiServerUnreachable the connection broke, or a line is not JSON
 */
export async function* watchEvents<T>(
  stream: Readable,
  clock: Clock,
  onActivity: () => void,
): AsyncGenerator<WatchEvent<T>> {
  const idle = new Timer(clock);
  const restart = () =>
    idle.set(WATCH_IDLE_TIMEOUT, () =>
      stream.destroy(new WatchIdleTimeout(`the watch was idle for ${WATCH_IDLE_TIMEOUT / 1_000} s`)),
    );
  /** Parts of the line that has not ended yet. */
  let parts: Buffer[] = [];
  restart();
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      restart();
      onActivity();
      let start = 0;
      for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
        const line = Buffer.concat([...parts, chunk.subarray(start, end)]);
        parts = [];
        start = end + 1;
        if (line.length > 0) yield parseEvent<T>(line);
      }
      if (start < chunk.length) parts.push(chunk.subarray(start));
    }
  } catch (error) {
    if (error instanceof ApiServerUnreachable || error instanceof ApiError) throw error;
    throw new ApiServerUnreachable(`the watch broke off: ${messageOf(error)}`, { cause: error });
  } finally {
    idle.clear();
    stream.destroy();
  }
}

/** Nesting depth at which the object of a line begins. */
const OBJECT_DEPTH = 2;

function parseEvent<T>(line: Buffer): WatchEvent<T> {
  let event: WatchEvent<T> | { readonly type: 'ERROR'; readonly object: unknown };
  try {
    event = parseObjects(line, OBJECT_DEPTH) as typeof event;
  } catch (error) {
    throw new ApiServerUnreachable('the watch sent a line that is not JSON', { cause: error });
  }
  if (event.type === 'ERROR') throw statusError(event.object);
  return event;
}

function statusError(object: unknown): ApiError {
  const status = object as { code?: number; reason?: string; message?: string };
  return new ApiError(status.code ?? 500, status.reason ?? 'Unknown', status.message ?? 'the watch failed');
}
