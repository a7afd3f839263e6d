import { redactor } from '../../../../operator/client/connection/redact';
import { ready } from '../../../../operator/runtime/outcome';
import { redactedOutcome } from '../../../../operator/sync/objects/redaction';

describe('redactedOutcome', () => {
  test('masks secrets in message, events, conditions and title, and leaves the rest', () => {
    const outcome = ready('AutomationInUse' as never, 'The hub said s3cret.', {
      status: { title: 'My s3cret', appliedHash: 'abc' },
      conditions: {
        ReloadReady: { status: 'False', reason: 'ReloadFailed', message: 's3cret is wrong' },
        Stalled: null,
      },
      events: [{ type: 'Warning', reason: 'ReloadFailed', message: 'no s3cret' }],
    });
    expect(redactedOutcome(outcome, redactor(['s3cret']))).toEqual({
      ...outcome,
      message: 'The hub said ***.',
      status: { title: 'My ***', appliedHash: 'abc' },
      conditions: {
        ReloadReady: { status: 'False', reason: 'ReloadFailed', message: '*** is wrong' },
        Stalled: null,
      },
      events: [{ type: 'Warning', reason: 'ReloadFailed', message: 'no ***' }],
    });
  });
});
