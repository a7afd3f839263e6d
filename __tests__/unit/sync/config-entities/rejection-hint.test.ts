import { HubRejected } from '../../../../operator/client/connection/errors';
import { withHint } from '../../../../operator/sync/config-entities/rejection-hint';

const rejected = (message: string) => new HubRejected('400', message);
const payload = { triggers: [{ trigger: 'state', to: true }], actions: [{ enabled: false }] };

describe('withHint', () => {
  test.each(["Message malformed: expected str at 'to'", "expected str at 'triggers[0].to'"])(
    'a boolean where the hub expects a string gets the hint to quote it: %s',
    (message) => {
      expect(withHint(rejected(message), payload).message).toBe(
        `${message}. triggers[0].to is the boolean true, and the hub wants text: quote on, off, yes, no, true and false.`,
      );
    },
  );

  test('a boolean in another field gets a hint, too', () => {
    const message = "Message malformed: expected str at 'message'";
    expect(withHint(rejected(message), { actions: [{ data: { message: true } }] }).message).toBe(
      `${message}. Quote on, off, yes and no in "message": YAML reads them as booleans.`,
    );
  });

  test.each([
    ['there is no boolean', "Message malformed: expected str at 'trigger'"],
    ['another type is expected', "Message malformed: expected int at 'to'"],
    ['the message names no place', 'Message malformed'],
  ])('the message stays the same where %s', (_, message) => {
    const error = rejected(message);
    expect(withHint(error, payload)).toBe(error);
  });
});
