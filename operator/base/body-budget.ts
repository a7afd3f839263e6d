import type { Readable } from 'node:stream';

/** Bytes. A smaller body is not counted: it arrives at once. */
const SMALL = 64 * 1024;

/**
 * A body is longer than allowed, or was aborted because too many large bodies arrived at once. The message is
 * part of a sentence.
 */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
}

/**
 * Bounds the memory of bodies that are arriving. Above the limit, the body that has been arriving for the
 * longest is aborted, so that a slow sender does not block the others.
 */
export class BodyBudget {
  private total = 0;
  /** Bytes by body, in order of arrival. */
  private readonly holds = new Map<() => void, number>();

  /**
   * @param maxTotal bytes; buffers are outside of the heap, and the container has little memory beside the
   * heap
   */
  constructor(private readonly maxTotal: number) {}

  /**
   * Registers a body. `set` takes the bytes that its buffer has, and aborts the oldest bodies, perhaps this
   * one, if the total is too large.
   */
  hold(abort: () => void) {
    const release = () => {
      this.total -= this.holds.get(abort) ?? 0;
      this.holds.delete(abort);
    };
    return {
      release,
      set: (bytes: number) => {
        if (bytes <= SMALL) return;
        this.total += bytes - (this.holds.get(abort) ?? 0);
        this.holds.set(abort, bytes);
        while (this.total > this.maxTotal) this.abortOldest();
      },
    };
  }

  private abortOldest(): void {
    const [[abort, bytes]] = this.holds as unknown as [[() => void, number]];
    this.holds.delete(abort);
    this.total -= bytes;
    abort();
  }
}

/**
 * Reads a body of at most `maxSize` bytes into one growing buffer. A list of chunks, which may have one byte
 * each, would take much more memory. A refused stream stays open.
 *
 * @throws BodyRefused
 * @throws Error of the stream
 */
export async function readBody(stream: Readable, maxSize: number, budget: BodyBudget): Promise<Buffer> {
  let body = Buffer.allocUnsafe(SMALL);
  let size = 0;
  const hold = budget.hold(() =>
    stream.destroy(new BodyRefused('too many large ones arrive at the same time')),
  );
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (size + chunk.length > maxSize) throw new BodyRefused(`it is longer than ${maxSize} bytes`);
      if (size + chunk.length > body.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxSize, Math.max(2 * body.length, size + chunk.length)));
        body.copy(larger, 0, 0, size);
        body = larger;
        hold.set(body.length);
      }
      size += chunk.copy(body, size);
    }
    return body.subarray(0, size);
  } finally {
    hold.release();
  }
}
