import type { Hub, HubSpec } from '../../../../operator/kinds';
import { NameConflict, ObjectRejected } from '../../../../operator/runtime/apply';
import { type Outcome, ready, stalled, waiting } from '../../../../operator/runtime/outcome';
import { continueOnFailure } from '../../../../operator/sync/hub/continue-on-failure';
import { type HubContext, requeueAfter, runSteps } from '../../../../operator/sync/hub/steps';
import type { Services } from '../../../../operator/sync/services';
import { silentLog } from '../../../cluster/silent-log';

const hub = { metadata: { namespace: 'home', name: 'h', uid: '1' } } as Hub;

/** A pass in which a step towards the workload gives `found`, or throws it, and the rest `end`. */
function reconcile(
  found: Outcome | Error | undefined,
  end: Outcome,
  { runs = true, again = undefined as number | undefined } = {},
) {
  const services = {
    cache: { get: () => (runs ? { metadata: { name: 'h' } } : undefined) },
    applier: { isOurs: () => true },
  } as unknown as Services;
  const context: HubContext = {
    hub,
    spec: {} as HubSpec,
    reconcile: { log: silentLog } as unknown as HubContext['reconcile'],
    status: { url: 'http://h' },
    conditions: {},
    events: [],
  };
  const run = () => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found));
  if (again !== undefined) requeueAfter(context, again);
  const steps = [continueOnFailure(services, { name: 'workload', run })];
  return runSteps(steps, context, () => end);
}

const well = ready('HubRunning', 'It answers.', { status: { phase: 'Running' } });

test('a pass without a problem ends as its end says', async () => {
  expect(await reconcile(undefined, well)).toMatchObject({
    ...well,
    status: { url: 'http://h', phase: 'Running' },
  });
});

test.each([
  [stalled('DowngradeRefused', 'Too old.'), 'DowngradeRefused', 'Too old.'],
  [new NameConflict('Service h is not ours.', false), 'NameConflict', 'Service h is not ours.'],
  [new ObjectRejected('nodePort: out of range'), 'InvalidSpec', 'nodePort: out of range'],
])(
  'a problem is said in the end, with the status of a hub that runs: %s',
  async (problem, reason, message) => {
    expect(await reconcile(problem, well)).toMatchObject({
      type: 'Stalled',
      reason,
      message,
      status: { url: 'http://h', phase: 'Running' },
    });
  },
);

test('what else is wrong is said too, and keeps its time', async () => {
  const banned = waiting('HubBanned', 'It is restarted.', 0, { status: { phase: 'Unknown' } });
  expect(await reconcile(stalled('InvalidSpec', 'No.'), banned)).toMatchObject({
    type: 'Stalled',
    after: 0,
    reason: 'InvalidSpec',
    message: 'No. It is restarted.',
    status: { phase: 'Unknown' },
  });
});

test('a step that wants another look gets it, whatever stalls', async () => {
  expect(await reconcile(undefined, stalled('RejectedByHub', 'No.'), { again: 30_000 })).toMatchObject({
    type: 'Stalled',
    reason: 'RejectedByHub',
    after: 30_000,
  });
  expect(await reconcile(undefined, well, { again: 30_000 })).toMatchObject({ type: 'Ready', after: 30_000 });
});

test('without a hub that runs the pass ends there, and its phase says so', async () => {
  expect(await reconcile(stalled('DowngradeRefused', 'Too old.'), well, { runs: false })).toMatchObject({
    type: 'Stalled',
    reason: 'DowngradeRefused',
    status: { url: 'http://h', phase: 'Failed' },
  });
  expect(await reconcile(new NameConflict('It goes.', true), well, { runs: false })).toMatchObject({
    type: 'Waiting',
    after: 5_000,
    status: { phase: 'Pending' },
  });
});

test('what nobody foresaw is thrown', async () => {
  await expect(reconcile(new TypeError('x'), well)).rejects.toThrow(TypeError);
});
