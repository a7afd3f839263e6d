import {
  FilesNotRead,
  HubBanned,
  HubFailed,
  HubRejected,
  HubTooLarge,
  HubUnreachable,
  LoginFailed,
  NotHomeAssistant,
  NotFound,
  TokenRejected,
} from '../../../../operator/client/connection/errors';
import { hubErrorOutcome, type HubRequest } from '../../../../operator/sync/hub-connection/hub-errors';

describe('hubErrorOutcome', () => {
  test.each<[Error, HubRequest, object]>([
    [new TokenRejected('no'), 'object', { type: 'Waiting', reason: 'TokenRejected', after: 30_000 }],
    [new TokenRejected('no'), 'state', { type: 'Waiting', reason: 'TokenRejected', after: 30_000 }],
    [new HubBanned(), 'object', { type: 'Waiting', reason: 'HubBanned', after: 30_000 }],
    [
      new HubUnreachable('no'),
      'object',
      { type: 'Waiting', reason: 'HubUnreachable', after: 10_000, requestPending: true },
    ],
    [new NotHomeAssistant('no'), 'state', { type: 'Waiting', reason: 'HubUnreachable', after: 10_000 }],
    [new HubRejected('400', 'no'), 'object', { type: 'Stalled', reason: 'RejectedByHub' }],
    [new HubRejected('400', 'no', 'read'), 'object', { type: 'Waiting', reason: 'HubFailed', after: 30_000 }],
    [new NotFound('404', 'no', 'read'), 'object', { type: 'Waiting', reason: 'HubFailed', after: 30_000 }],
    [
      new HubRejected('400', 'no', 'read'),
      'state',
      { type: 'Waiting', reason: 'ApiNotLoaded', after: 5_000 },
    ],
    [new NotFound('404', 'no'), 'state', { type: 'Waiting', reason: 'ApiNotLoaded', after: 5_000 }],
    [
      new HubTooLarge('areas', 42_000_000),
      'object',
      { type: 'Waiting', reason: 'HubFailed', after: 30_000, requestPending: false },
    ],
    [new FilesNotRead('no'), 'object', { type: 'Waiting', reason: 'FilesNotRead', after: 30_000 }],
    [new HubFailed('no'), 'state', { type: 'Waiting', reason: 'HubFailed', after: 30_000 }],
    [
      new HubFailed('no'),
      'object',
      { type: 'Waiting', reason: 'HubFailed', after: 30_000, requestPending: false },
    ],
  ])('turns %p of a request for %s into %p', (error, request, outcome) => {
    const found = hubErrorOutcome(error, request);
    expect(found).toMatchObject(outcome);
    expect(found.message).toContain(error.message);
  });

  test.each([new LoginFailed('no'), new TypeError('no')])('throws the unknown error %p', (error) => {
    expect(() => hubErrorOutcome(error, 'object')).toThrow(error);
  });

  test('uses a message of the caller instead of its own, and keeps the details', () => {
    expect(
      hubErrorOutcome(new HubBanned(), 'state', { message: 'Do that.', status: { phase: 'Unknown' } }),
    ).toMatchObject({ reason: 'HubBanned', message: 'Do that.', status: { phase: 'Unknown' } });
  });
});
