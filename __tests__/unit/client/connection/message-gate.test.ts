import fc from '../../../fast-check';
import { largeTexts } from '../../../../operator/base/turns';
import { type Message, MessageGate } from '../../../../operator/client/connection/message-gate';
import { until } from '../../until';

const LARGE = 64 * 1024 + 1;

/** A socket, and the messages that a hub sends over it. */
class Sent {
  readonly read: number[] = [];
  isPaused = false;
  waits = 0;
  /** Number of the message that is refused, which ends the connection. */
  refused: number | undefined;
  private sent = 0;
  private readonly gate = new MessageGate({
    pause: () => void (this.isPaused = true),
    resume: () => void (this.isPaused = false),
    onWait: () => void this.waits++,
    read: (message) => this.take(message),
  });

  send(size: number): void {
    const message: Message = [{ length: size } as Buffer, this.sent++];
    if (!this.gate.holds(message)) this.take(message);
  }

  close(): void {
    this.gate.close();
  }

  private take([, number]: Message): boolean {
    if (number === this.refused) return false;
    this.read.push(Number(number));
    return true;
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
/** Resolves when all waiting texts have had their turn. */
const idle = () => largeTexts.rested();
/** Starts the turn of another text, so that the next one has to wait. */
const busy = () => largeTexts.add(() => undefined, LARGE);

test('messages of any size are read in order, once each, and the socket continues to be read', async () => {
  const sizes = fc.array(fc.constantFrom(10, 10, LARGE, 1_048_576, 13 * 1024 * 1024), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.boolean(), { maxLength: 12 }), async (all, pauses) => {
      const [socket, other] = [new Sent(), new Sent()];
      busy();
      for (const [index, size] of all.entries()) {
        socket.send(size);
        other.send(size);
        if (pauses[index]) await new Promise(setImmediate);
      }
      await until(() => [socket, other].every(({ read }) => read.length === all.length));
      expect(socket.read).toEqual(numbers(all.length));
      expect(other.read).toEqual(numbers(all.length));
      await idle();
      await until(() => !socket.isPaused && !other.isPaused);
    }),
    { numRuns: 50 },
  );
});

test('nothing of a closed connection is read, and the turns of others continue', async () => {
  busy();
  const [closed, other] = [new Sent(), new Sent()];
  for (const socket of [closed, other]) for (const size of [LARGE, 10, LARGE]) socket.send(size);
  expect([closed.isPaused, closed.waits, closed.read.length]).toEqual([true, 1, 0]);
  closed.close();
  await until(() => other.read.length === 3);
  await idle();
  expect(closed.read).toEqual([]);
});

test('after a message that ends the connection no message is read', async () => {
  busy();
  const socket = new Sent();
  socket.refused = 1;
  for (const size of [LARGE, 10, 10, LARGE]) socket.send(size);
  await until(() => socket.read.length === 1);
  await idle();
  expect(socket.read).toEqual([0]);
});
