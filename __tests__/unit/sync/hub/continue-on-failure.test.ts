import { AnswerTooLarge, ApiError } from '../../../../operator/runtime/api-errors';
import { NameConflict, ObjectRejected } from '../../../../operator/runtime/apply-errors';
import { type Outcome, ready, stalled } from '../../../../operator/runtime/outcome';
import {
  continueOnFailure,
  type HubContext,
  Steps,
  type WithAddress,
  type WorkloadStep,
} from '../../../../operator/sync/hub/steps';
import { aHub, aHubContext, services } from '../fixtures';

const running = ready('HubRunning', 'It answers.', { status: { phase: 'Running' } });

/**
 * Runs one reconcile in which a step of the workload fails. `runs` tells whether the Hub has a StatefulSet.
 */
function reconcile(failure: Outcome | Error, runs = true, end: (url?: string) => void = () => undefined) {
  const set = aHub();
  const given = services({
    cache: { get: <T>() => (runs ? (set as T) : undefined) },
    applier: { isOurs: () => true },
  });
  const step: WorkloadStep<HubContext, WithAddress> = {
    name: 'StatefulSet',
    run: () => (failure instanceof Error ? Promise.reject(failure) : Promise.resolve(failure)),
    present: () => ({ url: 'http://present' }),
  };
  return Steps.none()
    .add(continueOnFailure(given, step))
    .run(aHubContext(), ({ url }) => {
      end(url);
      return running;
    });
}

describe('continueOnFailure', () => {
  test.each([
    [stalled('DowngradeRefused', 'Too old.'), 'DowngradeRefused', 'Too old.'],
    [new NameConflict('Service h is not ours.', false), 'NameConflict', 'Service h is not ours.'],
    [new ObjectRejected('nodePort: out of range'), 'InvalidSpec', 'nodePort: out of range'],
  ])('reports the failure at the end while the hub runs: %s', async (failure, reason, message) => {
    expect(await reconcile(failure)).toMatchObject({
      type: 'Stalled',
      reason,
      message,
      status: { phase: 'Running' },
    });
  });

  test('passes the object to later steps unchanged', async () => {
    const seen: unknown[] = [];
    await reconcile(new NameConflict('It is being deleted.', true), true, (url) => seen.push(url));
    expect(seen).toEqual(['http://present']);
  });

  test('ends the reconcile where no hub runs, with a phase', async () => {
    expect(await reconcile(stalled('DowngradeRefused', 'Too old.'), false)).toMatchObject({
      type: 'Stalled',
      reason: 'DowngradeRefused',
      status: { phase: 'Failed' },
    });
    expect(await reconcile(new NameConflict('It is being deleted.', true), false)).toMatchObject({
      type: 'Waiting',
      after: 3_000,
      status: { phase: 'Pending' },
    });
  });

  test.each([
    [
      new ApiError(500, 'InternalError', 'failed calling webhook "webhook.cert-manager.io"'),
      {
        type: 'Waiting',
        reason: 'ApiServerError',
        message: expect.stringMatching(/^The API server failed: failed/),
      },
    ],
    [new AnswerTooLarge('GET /pods: the answer is too large'), { type: 'Waiting', reason: 'ApiServerError' }],
    [
      new ApiError(403, 'Forbidden', 'secrets is forbidden'),
      { type: 'Stalled', reason: 'Forbidden', message: 'secrets is forbidden' },
    ],
  ])('reports an error of the API server while the hub runs: %s', async (failure, outcome) => {
    const end = jest.fn();
    expect(await reconcile(failure, true, end)).toMatchObject({
      ...outcome,
      after: 30_000,
      status: { phase: 'Running' },
    });
    expect(end).toHaveBeenCalled();
  });

  test('throws an error of the API server where no hub runs, and a conflict', async () => {
    const unavailable = new ApiError(500, 'InternalError', 'no');
    await expect(reconcile(unavailable, false)).rejects.toThrow(unavailable);
    const conflict = new ApiError(409, 'Conflict', 'no');
    await expect(reconcile(conflict)).rejects.toThrow(conflict);
  });

  test('reports a quota and retries', async () => {
    const quota = new ObjectRejected('exceeded quota', {}, true);
    expect(await reconcile(quota, false)).toMatchObject({
      type: 'Stalled',
      reason: 'Forbidden',
      after: 30_000,
      status: { phase: 'Failed' },
    });
  });

  test('throws an unexpected error', async () => {
    await expect(reconcile(new TypeError('x'))).rejects.toThrow(TypeError);
  });
});
