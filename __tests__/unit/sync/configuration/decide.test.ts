import {
  decide,
  type Known,
  knownOf,
  type Situation,
  type Step,
} from '../../../../operator/sync/configuration/decide';
import type { HubMode } from '../../../../operator/sync/configuration/record/observe';
import type { ConfigurationRecord } from '../../../../operator/sync/configuration/record/record';
import { contentFrom } from './content-from';

const MINUTE = 60_000;

const OLD = contentFrom('input_boolean:\n  first:\n');
const NEW = contentFrom('input_boolean:\n  second:\n');
const FREED = contentFrom('homeassistant:\n  auth_providers:\n    - type: homeassistant\n');
const [before, after] = [OLD.marker, NEW.marker];
const START = { id: 'one', version: '2026.11.0', pod: 'pod-1' };

const record = (of = OLD, fields: Partial<ConfigurationRecord> = {}): ConfigurationRecord => ({
  files: of.files,
  marker: of.marker,
  loaded: of.sections,
  pending: [],
  start: START,
  warnings: '',
  ...fields,
});

const published = (of = NEW, restart = OLD) => ({
  hash: of.marker.configuration,
  restart: { configuration: restart.marker.configuration, secrets: undefined },
});

const template = (of = OLD) => ({ configuration: of.marker.configuration, secrets: undefined });

const pod = (fields: object = {}) => ({
  uid: 'pod-1',
  restart: template(),
  begunWith: before,
  createdFiles: [],
  errorsBefore: [],
  ...fields,
});

type Fields = Partial<Situation['observed']> & Partial<Omit<Situation, 'observed'>>;

/** A hub that runs with OLD and has to get NEW. */
function situation(mode: HubMode, fields: Fields = {}): Situation {
  const { content: desired = NEW, policy, record: given, last, forced = false, ...observed } = fields;
  return {
    content: desired,
    policy: policy ?? { strategy: 'auto', autoRestart: true },
    record: 'record' in fields ? given : record(),
    last,
    forced,
    observed: {
      mode,
      ...(mode === 'usable' && { start: START, shown: before }),
      pod: pod(),
      published: published(OLD),
      template: template(),
      unusableFor: 0,
      ...observed,
    },
  };
}

const hotReload = { strategy: 'hot-reload', autoRestart: true } as const;
const inUse = { content: NEW, shown: after, published: published(), record: record(NEW) };
const begunPod = pod({ uid: 'pod-2', begunWith: after, restart: template(NEW) });
const begun = { pod: begunPod, published: published(NEW, NEW), template: template(NEW) };
const restartedPod = { ...begunPod, begunWith: undefined, preparedWith: after };
/** A pod other than the one that failed. */
const later = { pod: pod({ uid: 'pod-2' }) };
const fellBack = pod({ begunWith: undefined, rejected: { marker: after, problem: 'no' } });
const rejectedNow = record(OLD, { rejected: { marker: after, problem: 'no' } });
const failed = record(OLD, { failed: { marker: after, pod: 'pod-1' } });
const otherStart = { id: 'two', version: '2026.11.0', pod: 'pod-2' };
const otherVersion = { ...START, version: '2026.12.0' };

const usable: [string, Fields, Known, Step][] = [
  ['has it', inUse, 'InUse', 'ReportInUse'],
  ['has it, and a person asks again', { ...inUse, forced: true }, 'InUse', 'Load'],
  ['has it in another start', { ...inUse, start: otherStart }, 'Begun', 'Load'],
  ['has it in another version', { ...inUse, start: otherVersion }, 'Begun', 'Load'],
  ['waits with a section', { ...inUse, record: record(NEW, { pending: ['x'] }) }, 'Pending', 'Load'],
  ['shows it, and other files are published', { ...inUse, published: published(OLD) }, 'New', 'Load'],
  ['has the former one', {}, 'New', 'Load'],
  ['has none that is known', { record: undefined, shown: undefined }, 'New', 'Load'],
  ['began with it, first of all', { record: undefined, shown: after, ...begun }, 'Begun', 'Load'],
  ['began with it', { start: otherStart, shown: after, ...begun }, 'Begun', 'Load'],
  [
    'shows it in a start with other files',
    { start: otherStart, shown: after, published: published() },
    'New',
    'Load',
  ],
  ['rejected it', { record: rejectedNow }, 'Rejected', 'ReportRejected'],
  ['rejected it in another start', { record: rejectedNow, start: otherStart }, 'New', 'Load'],
  ['rejected it in another version', { record: rejectedNow, start: otherVersion }, 'New', 'Load'],
  ['rejected it, and a person asks again', { record: rejectedNow, forced: true }, 'Rejected', 'Load'],
  ['fell back from it', { pod: fellBack }, 'Rejected', 'ReportRejected'],
  [
    'fell back to it from another one',
    { ...inUse, start: otherStart, pod: pod({ rejected: { marker: before, problem: 'no' } }) },
    'Begun',
    'Load',
  ],
  [
    'fell back to it, and it is known',
    { ...inUse, pod: pod({ rejected: { marker: before, problem: 'no' } }) },
    'InUse',
    'ReportInUse',
  ],
  ['failed to start with it', { record: failed }, 'Failed', 'ReportFailed'],
  [
    'failed to start with it once, and runs it',
    { ...inUse, record: { ...failed, ...record(NEW) } },
    'InUse',
    'ReportInUse',
  ],
  ['is to be restarted for it', { published: published(NEW, NEW) }, 'Restarting', 'AwaitRestart'],
  [
    'is to be restarted for it, and must not any more',
    { published: published(NEW, NEW), policy: hotReload },
    'New',
    'Load',
  ],
  ['has loaded what could be', { last: { type: 'loaded', pending: ['x'] } }, 'New', 'ReportLoad'],
  ['could not be restarted for it, and can be', { last: { type: 'restart', because: ['x'] } }, 'New', 'Load'],
  [
    'cannot be restarted for it',
    { last: { type: 'restart', because: ['x'] }, heldBy: 'InvalidSpec' },
    'New',
    'ReportLoad',
  ],
];

const recovery: [string, Fields, Known, Step][] = [
  ['the content that the pod began with', begun, 'Begun', 'GoBack'],
  ['a content that failed before', { record: failed }, 'Failed', 'GoBack'],
  ['another one than the published', {}, 'New', 'Publish'],
  ['another one, and the Hub holds the restart', { heldBy: 'InvalidSpec' }, 'New', 'ReportHeld'],
  ['an unchecked one', { published: published() }, 'Unchecked', 'GoBackUnchecked'],
  ['one that a new pod gets soon', { published: published(NEW, NEW) }, 'Restarting', 'AwaitRestart'],
  [
    'one that a new pod would get, and the Hub holds it',
    { published: published(NEW, NEW), heldBy: 'Suspended' },
    'Restarting',
    'GoBackUnchecked',
  ],
  ['one that it has run with', { content: OLD }, 'InUse', 'Heal'],
  ['one that it has run with, and another was rejected', { record: rejectedNow }, 'Rejected', 'Heal'],
  ['one that it has run with, and another failed before', { record: failed, ...later }, 'Failed', 'Heal'],
  [
    'one that it has run with, and another that failed before is published',
    { record: failed, ...later, published: published() },
    'Failed',
    'GoBack',
  ],
  [
    'one of its volume, and it has run with no other',
    { record: undefined, pod: fellBack },
    'Rejected',
    'ReportRejected',
  ],
  [
    'one of its volume, and a person asks for the rejected one again',
    { ...begun, pod: pod({ ...fellBack, restart: template(NEW) }), forced: true },
    'Rejected',
    'Heal',
  ],
  ['one that failed and has run since', { record: { ...failed, ...record(NEW) } }, 'InUse', 'Heal'],
  [
    'the content that the pod was made with, after its container has started again',
    { ...begun, pod: restartedPod },
    'Begun',
    'GoBack',
  ],
  [
    'one of which a section waited for this start',
    { record: record(NEW, { pending: ['x'] }), ...begun },
    'Begun',
    'GoBack',
  ],
];

/** The pod has no report about its content, as with an earlier version of the operator. */
const nothingToPublish = {
  ...begun,
  pod: { ...begunPod, begunWith: undefined },
  policy: { strategy: 'restart', autoRestart: true },
} as const;

const ends = { times: 4, last: 'exit code 139', words: '' };
const crashed = { ...begun, pod: { ...restartedPod, ends, workload: 'w' } };
const ranIn = (workload: string) => ({ start: { ...START, workload } });

const crashing: [string, Fields, Known, Step][] = [
  ['is taken back', { ...crashed, record: record(OLD, ranIn('w')) }, 'Begun', 'GoBack'],
  [
    'is not blamed in a pod of another image',
    { ...crashed, record: record(OLD, ranIn('x')) },
    'Begun',
    'Await',
  ],
  ['is not blamed where the former pod is not known', crashed, 'Begun', 'Await'],
  ['is not blamed where it has run', { ...crashed, record: record(NEW, ranIn('w')) }, 'InUse', 'Await'],
  ['is all that there is', { ...crashed, record: undefined }, 'Begun', 'Await'],
  ['gives way to another one at once', { ...crashed, content: OLD, record: undefined }, 'New', 'Publish'],
  [
    'is taken back after a crash of the operator',
    { ...crashed, record: record(OLD, { failed: { marker: after, pod: 'pod-2', ends } }) },
    'Failed',
    'GoBack',
  ],
];

const away: [string, HubMode, Fields, Known, Step][] = [
  ['the former one is held', 'away', {}, 'New', 'Hold'],
  ['that for a minute', 'away', { unusableFor: MINUTE }, 'New', 'Publish'],
  ['a start is waited for', 'starting', { unusableFor: 9 * MINUTE }, 'New', 'Hold'],
  ['that for ten minutes', 'starting', { unusableFor: 10 * MINUTE }, 'New', 'Publish'],
  ['a person does not wait', 'starting', { forced: true }, 'New', 'Publish'],
  ['a hub without a token is waited for', 'locked', { unusableFor: 600 * MINUTE }, 'New', 'Hold'],
  [
    'a hub that its login may have locked is freed by another',
    'locked',
    { content: FREED },
    'New',
    'Publish',
  ],
  [
    'that once',
    'locked',
    { content: FREED, published: published(FREED, FREED), template: template(FREED) },
    'Restarting',
    'Await',
  ],
  [
    'and not again by the pod that has it',
    'locked',
    {
      content: FREED,
      pod: pod({ uid: 'pod-2', begunWith: FREED.marker, restart: template(FREED) }),
      published: published(FREED, FREED),
      template: template(FREED),
    },
    'Begun',
    'Await',
  ],
  ['a hub that is away is waited for all the same', 'away', { content: FREED }, 'New', 'Hold'],
  [
    'a pod that began with it is not restarted',
    'starting',
    { ...begun, unusableFor: 60 * MINUTE },
    'Begun',
    'Await',
  ],
  [
    'a restart that is published is waited for',
    'away',
    { published: published(NEW, NEW), unusableFor: MINUTE },
    'Restarting',
    'Await',
  ],
  ['a first pod gets it at once', 'away', { record: undefined, published: undefined }, 'New', 'Publish'],
  ['the Hub holds the restart', 'away', { heldBy: 'InvalidSpec', unusableFor: MINUTE }, 'New', 'ReportHeld'],
  ['what the hub rejected stays rejected', 'away', { record: rejectedNow }, 'Rejected', 'ReportRejected'],
  ['what failed stays failed', 'starting', { record: failed }, 'Failed', 'ReportFailed'],
  [
    'what failed does not stay published',
    'locked',
    { record: failed, published: published(), pod: undefined },
    'Failed',
    'GoBack',
  ],
  [
    'a container that has started again has read what was published since',
    'starting',
    { ...begun, pod: restartedPod, published: published(OLD, NEW) },
    'New',
    'Hold',
  ],
  [
    'what a pod has got in full is not published again',
    'away',
    { ...nothingToPublish, unusableFor: MINUTE },
    'New',
    'Await',
  ],
  ['the published one needs nothing', 'away', { content: OLD, unusableFor: MINUTE }, 'InUse', 'Await'],
  [
    'an unchecked one is checked by a new pod',
    'away',
    { published: published(), unusableFor: MINUTE, policy: { strategy: 'restart', autoRestart: true } },
    'Unchecked',
    'Publish',
  ],
];

describe('decide', () => {
  test.each(usable)('a hub that %s', (_, fields, known, step) => {
    expect([knownOf(situation('usable', fields)), decide(situation('usable', fields))]).toEqual([
      known,
      step,
    ]);
  });

  test.each(recovery)('in recovery mode: %s', (_, fields, known, step) => {
    expect([knownOf(situation('recovery', fields)), decide(situation('recovery', fields))]).toEqual([
      known,
      step,
    ]);
  });

  test.each(crashing)('a content with which the process of the hub ends %s', (_, fields, known, step) => {
    expect([knownOf(situation('crashing', fields)), decide(situation('crashing', fields))]).toEqual([
      known,
      step,
    ]);
  });

  test.each(away)('while the hub is not usable: %s', (_, mode, fields, known, step) => {
    expect([knownOf(situation(mode, fields)), decide(situation(mode, fields))]).toEqual([known, step]);
  });

  test('a new file is not published while nothing starts a pod that could read it', () => {
    const desired = contentFrom('input_boolean: !include b.yaml\n', { 'b.yaml': 'second:\n' });
    const given = { content: desired, policy: hotReload, unusableFor: MINUTE };
    expect(decide(situation('away', given))).toBe('ReportNewFiles');
    expect(decide(situation('recovery', given))).toBe('Publish');
  });
});
