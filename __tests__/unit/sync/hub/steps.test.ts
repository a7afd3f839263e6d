import { isInRecoveryMode } from '../../../../operator/kinds/hub';
import { conditionsAfter } from '../../../../operator/runtime/conditions';
import { type Outcome, ready, stalled, waiting } from '../../../../operator/runtime/outcome';
import { checkTrustedProxies } from '../../../../operator/sync/hub/exposure/trusted-proxies';
import {
  type HubContext,
  type HubStep,
  requeueAfter,
  type StepResult,
  Steps,
  type WithAddress,
} from '../../../../operator/sync/hub/steps';
import { aHubContext } from '../fixtures';

const running = ready('HubRunning', 'It answers.', { status: { phase: 'Running' } });
const stepWith = (run: (context: HubContext) => StepResult): HubStep => ({
  name: 'any',
  run: (context) => Promise.resolve(run(context)),
});
const reconcile = (context: HubContext, end: Outcome) =>
  Steps.none()
    .add(stepWith(() => ({})))
    .run(context, () => end);

describe('Steps', () => {
  test('run in order, and each gets the results of the previous ones', async () => {
    const order: unknown[] = [];
    const address: HubStep<HubContext, WithAddress> = {
      name: 'address',
      run: () => Promise.resolve({ url: 'http://h' }),
    };
    const reader: HubStep<HubContext & WithAddress> = {
      name: 'reader',
      run: ({ url }) => Promise.resolve(order.push(url) ? {} : running),
    };
    const outcome = await Steps.none()
      .add(stepWith(() => (order.push('first') ? {} : running)))
      .add(address)
      .add(reader)
      .run(aHubContext(), ({ url }) => ready('HubRunning', `It answers at ${url}.`));
    expect(order).toEqual(['first', 'http://h']);
    expect(outcome.message).toBe('It answers at http://h.');
  });

  test('do not compile in an order in which a step lacks its input', () => {
    // @ts-expect-error the hub has not been asked yet
    expect(() => Steps.none().add(checkTrustedProxies)).not.toThrow();
  });

  test('end with the first outcome, and later steps do not run', async () => {
    const late = jest.fn(() => ({}));
    const outcome = await Steps.none()
      .add(stepWith(() => stalled('InvalidSpec', 'No.')))
      .add(stepWith(late))
      .run(aHubContext(), () => running);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
    expect(late).not.toHaveBeenCalled();
  });

  test('report the status, the conditions and the events of all steps with the outcome', async () => {
    const context = aHubContext();
    context.status['url'] = 'http://h';
    context.conditions.Exposed = null;
    context.events.push({ type: 'Normal', reason: 'SelfUnban', message: 'Once.' });
    expect(await reconcile(context, running)).toMatchObject({
      ...running,
      status: { url: 'http://h', phase: 'Running' },
      conditions: { Exposed: null },
      events: [{ message: 'Once.' }],
    });
  });

  test('report a problem first, then the state of the hub, and keep the earliest requeue', async () => {
    const banned = waiting('HubBanned', 'It is restarted.', 0, {
      status: { phase: 'Unknown' },
      requestPending: true,
    });
    const context = aHubContext();
    context.problem = stalled('InvalidSpec', 'No.');
    expect(await reconcile(context, banned)).toMatchObject({
      type: 'Stalled',
      after: 0,
      reason: 'InvalidSpec',
      message: 'No. It is restarted.',
      requestPending: true,
      status: { phase: 'Unknown' },
    });
  });

  test('report the recovery mode before a problem, since the HubConfiguration ends it', async () => {
    const recovery = waiting('RecoveryMode', 'It runs in recovery mode.', 30_000, {
      status: { phase: 'Failed' },
    });
    const context = aHubContext();
    context.problem = stalled('NameConflict', 'No.');
    const outcome = await reconcile(context, recovery);
    expect(outcome).toMatchObject({
      type: 'Waiting',
      after: 30_000,
      reason: 'RecoveryMode',
      message: 'It runs in recovery mode. No.',
    });
    const conditions = conditionsAfter([], outcome, 1, '2026-01-01T00:00:00Z');
    expect(isInRecoveryMode({ status: { conditions } } as never)).toBe(true);
    expect(conditions.slice(1)).toMatchObject([{ type: 'Stalled', reason: 'NameConflict', message: 'No.' }]);
  });

  test('report the phase of the running hub instead of that of the problem', async () => {
    const context = aHubContext();
    context.problem = waiting('WaitingForConfiguration', 'No.', 1, { status: { phase: 'Pending' } });
    context.status['phase'] = 'Running';
    expect(await reconcile(context, ready('HubRunning', 'It answers.'))).toMatchObject({
      reason: 'WaitingForConfiguration',
      status: { phase: 'Running' },
    });
  });
});

describe('requeueAfter', () => {
  test('requeues after every outcome', async () => {
    const context = aHubContext();
    requeueAfter(context, 30_000);
    expect(await reconcile(context, stalled('RejectedByHub', 'No.'))).toMatchObject({
      type: 'Stalled',
      after: 30_000,
    });
    expect(await reconcile(context, running)).toMatchObject({ type: 'Ready', after: 30_000 });
  });

  test('keeps the shortest of several delays', async () => {
    const context = aHubContext();
    for (const delay of [30_000, 5_000, 10_000]) requeueAfter(context, delay);
    expect(await reconcile(context, running)).toMatchObject({ after: 5_000 });
  });
});
