import {
  HubFailed,
  HubNotRunning,
  HubRejected,
  HubUnreachable,
  TokenRejected,
} from '../../../../operator/client/connection/errors';
import type { CustomResource } from '../../../../operator/kinds/resource';
import { type Outcome, ready, stalled, waiting } from '../../../../operator/runtime/outcome';
import { whileRunning } from '../../../../operator/sync/hub-connection/while-running';
import { resource } from '../../resource';
import { FakePresence } from '../fake-presence';

let presence: FakePresence;
const lights: CustomResource = resource('lights', {});

beforeEach(() => {
  presence = new FakePresence();
});

/** Runs a reconcile; with `isCut` the hub is restarted during it. */
function run(end: Outcome | Error, { isCut = true, of = lights } = {}) {
  return whileRunning({ presence: presence as never }, of, () => {
    if (isCut) presence.restart();
    return end instanceof Error ? Promise.reject(end) : Promise.resolve(end);
  });
}

describe('whileRunning', () => {
  test('begins nothing in a hub that has not started', async () => {
    presence.runs = false;
    const reconcile = jest.fn();
    await expect(
      whileRunning({ presence: presence as never }, resource('lights', {}), reconcile),
    ).rejects.toThrow(HubNotRunning);
    expect(reconcile).not.toHaveBeenCalled();
  });

  test.each([new HubRejected('404', 'not found'), new HubFailed('HTTP 500')])(
    'takes the restart of the hub for the cause of %s',
    async (error) => {
      await expect(run(error)).rejects.toThrow(HubNotRunning);
      await expect(run(error, { isCut: false })).rejects.toBe(error);
    },
  );

  test('also takes a restart right after the answer that the hub runs for the cause', async () => {
    const isRunning = jest.spyOn(presence, 'isRunning').mockImplementation(() => {
      presence.restart();
      return Promise.resolve(true);
    });
    await expect(run(new HubRejected('404', 'not found'), { isCut: false })).rejects.toThrow(HubNotRunning);
    isRunning.mockRestore();
  });

  test.each([new HubUnreachable('connection refused'), new TokenRejected('HTTP 401'), new Error('a fault')])(
    'leaves %s unchanged',
    async (error) => {
      await expect(run(error)).rejects.toBe(error);
    },
  );

  test('does not report a failure of a reconcile in which the hub was restarted', async () => {
    const rejected = stalled('RejectedByHub', 'no');
    await expect(run(rejected)).rejects.toThrow(HubNotRunning);
    expect(await run(rejected, { isCut: false })).toBe(rejected);
    presence.runs = true;
    const stops = whileRunning({ presence: presence as never }, resource('lights', {}), () => {
      presence.runs = false;
      return Promise.resolve(rejected);
    });
    await expect(stops).rejects.toThrow(HubNotRunning);
  });

  test('keeps the fields of status, since they record what has happened', async () => {
    const outcome = stalled('RejectedByHub', 'no', { status: { entryID: 'e' } });
    expect(await run(outcome)).toMatchObject({
      type: 'Waiting',
      reason: 'HubNotReady',
      status: { entryID: 'e' },
    });
  });

  test('keeps a failure that was reported before', async () => {
    const condition = { type: 'Stalled', status: 'True', reason: 'RejectedByHub', message: 'no' };
    const of = resource('lights', {}, { status: { conditions: [condition] } } as never) as CustomResource;
    const rejected = stalled('RejectedByHub', 'no');
    expect(await run(rejected, { of })).toBe(rejected);
  });

  test.each([ready('EntryLoaded', ''), waiting('SetupRetry', '', 1_000)])(
    'leaves $type unchanged',
    async (outcome) => {
      expect(await run(outcome)).toBe(outcome);
    },
  );
});
