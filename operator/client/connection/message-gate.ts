import { largeTexts } from '../../base/turns';

/** The arguments of a socket's event `message`; the first one is the message. */
export type Message = readonly [content: Buffer, ...rest: unknown[]];

interface GatedSocket {
  /** Stops reading from the connection until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Called when a complete message waits. Later messages wait behind it. */
  onWait(): void;
  /** Reads a message. @returns whether the next one may be read */
  read(message: Message): boolean;
}

/**
 * Decides when the messages of one hub are read. A large message waits until those of other hubs were read,
 * so that one hub cannot delay all others.
 */
export class MessageGate {
  /** A large message that waits for its turn, and the messages that arrived after it. */
  private readonly waiting: Message[] = [];

  constructor(private readonly socket: GatedSocket) {}

  /** Whether the message is queued. If it is not, the caller must read it now. */
  holds(message: Message): boolean {
    const isFirst = this.waiting.length === 0;
    if (isFirst && !mayWait(message)) {
      if (largeTexts.isLarge(sizeOf(message))) void this.readNoMoreUntilRested();
      return false;
    }
    this.waiting.push(message);
    if (!isFirst) return true;
    this.socket.pause();
    this.socket.onWait();
    this.waitForTurn(message);
    return true;
  }

  /** To be called when the connection is closed. */
  close(): void {
    this.waiting.length = 0;
  }

  /**
   * Called for a large message that is read at once: nothing more is read from this hub until others had
   * their share of time.
   */
  private async readNoMoreUntilRested(): Promise<void> {
    this.socket.pause();
    await largeTexts.countNext();
    await largeTexts.rested();
    if (this.waiting.length === 0) this.socket.resume();
  }

  private waitForTurn(message: Message): void {
    largeTexts.add(() => this.readWaiting(), sizeOf(message));
  }

  private readWaiting(): void {
    do {
      const message = this.waiting.shift();
      if (!message) return; // the connection was closed
      if (!this.socket.read(message)) return;
    } while (this.waiting.length > 0 && !mayWait(this.waiting[0]!));
    if (this.waiting.length > 0) this.waitForTurn(this.waiting[0]!);
    else this.socket.resume();
  }
}

const sizeOf = ([{ length }]: Message): number => length;
const mayWait = (message: Message): boolean => largeTexts.mayWait(sizeOf(message));
