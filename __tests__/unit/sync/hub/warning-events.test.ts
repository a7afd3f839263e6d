import type { ApiRequest } from '../../../../operator/runtime/api-client';
import { type Event, latestWarning, newestWarning } from '../../../../operator/sync/hub/warning-events';
import { services } from '../fixtures';

const NORMAL = new Set([
  ...['Scheduled', 'Pulling', 'Started', 'SuccessfulCreate', 'Killing', 'SuccessfulAttachVolume'],
  ...['TriggeredScaleUp', 'WaitForFirstConsumer', 'FailedBinding'],
]);

const at = (minute: number, reason: string, message = ''): Event => ({
  type: NORMAL.has(reason) ? 'Normal' : 'Warning',
  metadata: { creationTimestamp: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z` },
  reason,
  message,
});

describe('newestWarning', () => {
  test.each<[string, Event[], string | undefined]>([
    ['no events', [], undefined],
    ['events of progress: none', [at(0, 'Scheduled'), at(1, 'Pulling')], undefined],
    [
      'the newest event that reports a problem',
      [at(2, 'FailedMount', 'b'), at(0, 'FailedScheduling', 'a'), at(1, 'Pulling')],
      'FailedMount: b',
    ],
    [
      'a pod that was scheduled in the end and pulls its image: none',
      [at(0, 'FailedScheduling', 'no node'), at(1, 'Scheduled'), at(1, 'Pulling')],
      undefined,
    ],
    [
      'a problem of the same second as the progress',
      [at(1, 'Started'), at(1, 'Unhealthy', 'no answer')],
      'Unhealthy: no answer',
    ],
    [
      'a pod that was created in the end: none',
      [at(0, 'FailedCreate', 'exceeded quota'), at(3, 'SuccessfulCreate')],
      undefined,
    ],
    [
      'steps that no list has: none',
      [at(0, 'TriggeredScaleUp', 'pool 1'), at(1, 'Killing', 'probe')],
      undefined,
    ],
    [
      'a volume that was attached in the end: none',
      [at(0, 'FailedAttachVolume', 'in use'), at(1, 'SuccessfulAttachVolume', 'pvc-1')],
      undefined,
    ],
    [
      'a claim that waits, which is no warning',
      [at(1, 'WaitForFirstConsumer', 'waiting for first consumer')],
      'WaitForFirstConsumer: waiting for first consumer',
    ],
    ['a claim without a class', [at(1, 'FailedBinding', 'no class')], 'FailedBinding: no class'],
    [
      'a problem that continues',
      [
        {
          ...at(0, 'Unhealthy', 'no answer'),
          series: { lastObservedTime: '2026-01-01T00:09:00Z' },
        },
        at(1, 'Started'),
      ],
      'Unhealthy: no answer',
    ],
  ])('is that of %s', (_, events, words) => expect(newestWarning(events)).toBe(words));
});

describe('latestWarning', () => {
  test('is the newest of all pages, since the server lists the oldest first', async () => {
    const pages = new Map<unknown, object>([
      [undefined, { items: [at(0, 'FailedMount', 'a')], metadata: { continue: 'page 2' } }],
      ['page 2', { items: [at(5, 'FailedMount', 'b')], metadata: {} }],
    ]);
    const cluster = { request: ({ query }: ApiRequest) => Promise.resolve(pages.get(query?.['continue'])) };
    const pod = { metadata: { namespace: 'home', name: 'villa-0', uid: '1' } };
    expect(await latestWarning(services({ cluster: cluster as never }), pod)).toBe('FailedMount: b');
  });
});
