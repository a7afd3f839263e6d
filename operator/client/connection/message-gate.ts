import { largeTexts } from '../../base/turns';

/** The arguments of the event `message` of a socket: the message first. */
export type Message = readonly [content: Buffer, ...rest: unknown[]];

interface GatedSocket {
  /** Nothing more is read from the connection until {@link resume}. */
  pause(): void;
  resume(): void;
  /** A complete message waits, and others after it. */
  onWait(): void;
  /** @returns whether the next one may be read */
  read(message: Message): boolean;
}

/** When the messages of one hub are read: a large one waits until others were read, so that a hub cannot delay all others. */
export class MessageGate {
  /** A large message that waits for its turn, and those that have arrived after it. */
  private readonly waiting: Message[] = [];

  constructor(private readonly socket: GatedSocket) {}

  /** Whether the message waits. One that does not is read by the caller, now. */
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

  /** The connection is closed. */
  close(): void {
    this.waiting.length = 0;
  }

  /** The message is read at once, and nothing more of this hub while others have their time. */
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
