import type { Readable } from 'node:stream';

/** Bytes. A smaller body does not count: it has arrived in a moment. */
const SMALL = 64 * 1024;

/** A body is longer than it may be, or took memory for too long that others need. The message is a sentence part. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
}

/**
 * Bounds the memory of bodies that are arriving. When there is too much, the oldest one is aborted: a body that arrives slowly
 * must not keep others out.
 */
export class BodyBudget {
  private total = 0;
  /** Bytes by body, the oldest first. */
  private readonly holds = new Map<() => void, number>();

  /** @param maxTotal bytes: they are outside of the heap, and the container has little more memory beside it */
  constructor(private readonly maxTotal: number) {}

  /** Holds the memory of a body. Its `set` takes the bytes that have arrived, and may abort another body, or this one. */
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
 * Reads a body, no further than it may be long. It is one buffer from the beginning: a list of its chunks, which may have a byte
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
