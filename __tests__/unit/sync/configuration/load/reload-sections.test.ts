import { HubBanned, HubFailed, TokenRejected } from '../../../../../operator/client/connection/errors';
import { reloadSections } from '../../../../../operator/sync/configuration/load/reload-sections';
import { silentLog } from '../../../../cluster/silent-log';
import { ManualClock } from '../../../manual-clock';
import { textsOfHub } from '../../../../../operator/sync/configuration/generate/texts';
import { unbounded } from '../../../../../operator/base/bounded-task';
import { hubClient } from '../../../stand-in-hub/hub-client';

const RELOADS = [
  { service: 'group.reload', sections: ['group'] },
  { service: 'template.reload', sections: ['template'] },
];
const NOTHING = { before: {}, after: {} };

/** Calls the services of `RELOADS` in a hub; `answer` throws for a call that fails. */
function setup(answer: (path: string, count: number) => void) {
  const clock = new ManualClock();
  const calls: { readonly path: string; readonly at: number }[] = [];
  const post = (path: string) => {
    calls.push({ path: path.replace('/api/services/', ''), at: clock.monotonic() });
    answer(path, calls.filter((call) => path.endsWith(call.path)).length);
    return Promise.resolve([]);
  };
  const client = hubClient({ rest: { post } });
  const { signal } = new AbortController();
  const services = { clock, log: silentLog, texts: textsOfHub({ texts: unbounded }, 'home', 'villa') };
  return { clock, calls, result: reloadSections(services, client, RELOADS, NOTHING, signal) };
}

describe('reloadSections', () => {
  test('a service that fails is called three times, 5 s apart, and the others are called nevertheless', async () => {
    const { clock, calls, result } = setup((path) => {
      if (path.includes('group')) throw new HubFailed('no such entity');
    });
    for (let second = 0; second < 20; second++) await clock.advance(1_000);
    expect(await result).toEqual({
      sections: ['group'],
      message: expect.stringMatching(/^group\.reload failed: .*no such entity.*\.$/),
    });
    expect(calls).toEqual([
      { path: 'group/reload', at: 0 },
      { path: 'group/reload', at: 5_000 },
      { path: 'group/reload', at: 10_000 },
      { path: 'template/reload', at: 10_000 },
    ]);
  });

  test('one that succeeds the second time has not failed', async () => {
    const { clock, calls, result } = setup((path, count) => {
      if (path.includes('group') && count === 1) throw new HubFailed('busy');
    });
    for (let second = 0; second < 6; second++) await clock.advance(1_000);
    expect(await result).toBeUndefined();
    expect(calls.map(({ path }) => path)).toEqual(['group/reload', 'group/reload', 'template/reload']);
  });

  test.each([
    ['a rejected token', new TokenRejected('HTTP 401')],
    ['a ban', new HubBanned()],
  ])('%s is not followed by another attempt', async (_, error) => {
    const { calls, result } = setup(() => {
      throw error;
    });
    await expect(result).rejects.toBe(error);
    expect(calls).toHaveLength(1);
  });
});
