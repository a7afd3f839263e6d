import { MAX_DEPTH, MAX_VALUES, countValues, tooDeep, TooManyValues } from '../../base/bounded-json';

/** Most messages in one list: a hub queues no more than these for a slow client. */
const MAX_COALESCED = 4_096;
const OPENING_BRACKET = 0x5b;

/**
 * Checks a WebSocket text before it is parsed. The text is a message or a list of messages, each of which
 * takes time.
 *
 * @throws TooManyValues
 */
export function assertMessage(json: Uint8Array): void {
  if (json.find((byte) => byte > 0x20) !== OPENING_BRACKET) return void countValues(json, MAX_VALUES);
  let messages = 0;
  countValues(json, MAX_VALUES, {
    onOpen(depth) {
      if (depth > MAX_DEPTH) throw tooDeep();
      if (depth === 2 && ++messages > MAX_COALESCED)
        throw new TooManyValues(`it consists of more than ${MAX_COALESCED} messages`);
    },
    onClose: () => {},
    onString: () => {},
    onNumber: () => {},
  });
}
