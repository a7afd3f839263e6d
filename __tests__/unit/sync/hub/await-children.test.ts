import { finalizerOf } from '../../../../operator/kinds/annotations';
import { HUB_DELETION_GRACE } from '../../../../operator/base/limits';
import type { CustomResource } from '../../../../operator/kinds/resource';
import { awaitChildren } from '../../../../operator/sync/hub/await-children';
import { ManualClock } from '../../manual-clock';
import { objectMetadata } from '../../object-metadata';
import { aHub, services } from '../fixtures';

let clock: ManualClock;
let children: CustomResource[];
let wait: ReturnType<typeof awaitChildren>;

beforeEach(() => {
  clock = new ManualClock();
  children = [];
  const cache = {
    get: () => undefined,
    ofHub: ((kind: string) => children.filter((each) => each.kind === kind)) as never,
  };
  wait = awaitChildren(services({ clock, cache }));
});

const now = () => new Date(clock.now()).toISOString();

const child = (kind: string, { finalizers = [finalizerOf(kind)], isGoing = false } = {}): CustomResource => ({
  apiVersion: 'hub-operator.dev/v1',
  kind,
  metadata: {
    ...objectMetadata,
    name: 'porch',
    uid: 'u',
    finalizers,
    ...(isGoing && { deletionTimestamp: now() }),
  },
  spec: {},
});

/** Returns whether the Hub, which is deleted since `deletionTimestamp`, waits. */
const waits = (deletionTimestamp = now(), uid = '1'): boolean =>
  wait(aHub({ metadata: { uid, deletionTimestamp } })) !== undefined;

describe('awaitChildren', () => {
  test('waits a few seconds for living children to be deleted, and not without children', async () => {
    const since = now();
    expect(waits(since)).toBe(false);
    children = [child('HubAutomation')];
    expect(waits(since)).toBe(true);
    await clock.advance(HUB_DELETION_GRACE);
    expect(waits(since)).toBe(false);
  });

  test('waits for children that are being removed, until they are', async () => {
    const since = now();
    children = [child('HubAutomation', { isGoing: true }), child('HubScene')];
    expect(waits(since)).toBe(true);
    await clock.advance(10 * HUB_DELETION_GRACE);
    expect(waits(since)).toBe(true);
    children = [child('HubScene')];
    expect(waits(since)).toBe(false);
  });

  test.each([
    ['ahead of', -1],
    ['behind', 1],
  ])('waits as long if the clock of the operator is %s that of the API server', async (_, sign) => {
    children = [child('HubAutomation')];
    const since = new Date(clock.now() + sign * 10 * HUB_DELETION_GRACE).toISOString();
    expect(waits(since)).toBe(true);
    await clock.advance(HUB_DELETION_GRACE);
    expect(waits(since)).toBe(false);
  });

  test('waits as long if the clock of the operator is set in the meantime', () => {
    children = [child('HubAutomation')];
    const since = now();
    expect(waits(since)).toBe(true);
    clock.set(10 * HUB_DELETION_GRACE);
    expect(waits(since)).toBe(true);
  });

  test('a Hub of the same name that is deleted later has its own time', async () => {
    children = [child('HubAutomation')];
    waits();
    await clock.advance(HUB_DELETION_GRACE);
    expect(waits(now(), '2')).toBe(true);
  });

  test('does not wait for children without objects in the hub, nor for finalizers of other controllers', () => {
    children = [
      child('HubConfiguration', { finalizers: [] }),
      child('HubAutomation', { finalizers: ['example.org/other'], isGoing: true }),
    ];
    expect(waits(now())).toBe(false);
  });
});
