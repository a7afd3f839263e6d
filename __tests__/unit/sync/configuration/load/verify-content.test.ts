import { verifyContent } from '../../../../../operator/sync/configuration/load/verify-content';
import { ManualClock } from '../../../manual-clock';
import { aHub, services } from '../../fixtures';

const MARKER = { configuration: 'sha256:new' };

/** A hub whose check takes this long, in milliseconds, and that reads the files from this round on. */
async function show(
  checkDuration: number,
  roundOfFiles: number,
  errorOfCheck: (count: number) => string | null = () => null,
) {
  const clock = new ManualClock();
  let rounds = 0;
  let checks = 0;
  const client = {
    rest: {
      redact: String,
      post: async () => {
        await clock.advance(checkDuration);
        return { result: 'valid', errors: errorOfCheck(++checks), warnings: null };
      },
    },
    connection: { command: () => Promise.resolve([]) },
    entityRegistry: { findNow: () => Promise.resolve({ entity_id: 'script.marker' }) },
    entities: {
      reload: () => Promise.resolve(void rounds++),
      running: () => Promise.resolve(rounds >= roundOfFiles ? { variables: MARKER } : undefined),
    },
  };
  const given = services({ clock, cluster: { request: () => Promise.resolve(undefined as never) } });
  const desired = {
    hub: aHub(),
    client: client as never,
    marker: MARKER,
    knownWarnings: '',
    redact: String,
    files: {},
    hasChanged: () => Promise.resolve(false),
    rejectAfter: 0,
  };
  let shown: unknown;
  const began = clock.monotonic();
  const showing = verifyContent(given, desired, new AbortController().signal).then((result) => {
    shown = { ...result, took: clock.monotonic() - began };
  });
  for (let step = 0; step < 5_000 && shown === undefined; step++) await clock.advance(100);
  await showing;
  return shown;
}

describe('verifyContent', () => {
  test('a check that takes longer than the limit leaves the hub rounds to read the files', async () => {
    expect(await show(31_000, 5)).toMatchObject({ type: 'seen' });
  });

  test('a problem of the files that were refreshed after the first check is a rejection', async () => {
    const rejected = { type: 'rejected', problem: 'wrong', isWarning: false };
    expect(await show(100, 1, (count) => (count === 2 ? 'wrong' : null))).toMatchObject(rejected);
  });

  test('a hub that reads other files for half a minute is reported as reading others', async () => {
    expect(await show(100, 1_000)).toMatchObject({ type: 'unseen' });
  });

  test.each([
    [1, 200],
    [2, 600],
    [3, 1_000],
  ])('files that the hub reads in round %i cost %i ms, with a check of 100 ms', async (round, took) => {
    expect(await show(100, round)).toMatchObject({ type: 'seen', took });
  });
});
