import { decide, knownOf, type Situation, type Step } from '../../../../operator/sync/configuration/decide';
import type { Content } from '../../../../operator/sync/configuration/generate/generate';
import type { LoadResult } from '../../../../operator/sync/configuration/load/hub-loader';
import type { HubMode, Observed, PodStart } from '../../../../operator/sync/configuration/record/observe';
import type { ConfigurationRecord } from '../../../../operator/sync/configuration/record/record';
import { contentFrom } from './content-from';

// Rules for the next step in every situation, regardless of the crash or race that led to it. Two contents,
// the former and the desired one, are enough, since a decision only asks whether contents are equal.

const FORMER = contentFrom('input_boolean:\n  first:\n');
const DESIRED = contentFrom('input_boolean:\n  second:\n');
const CONTENTS = [undefined, FORMER, DESIRED] as const;
const POD = 'this pod';
const START = { id: 'this start', version: '2026.11.0', pod: POD };
const OTHER_START = { id: 'another start', version: '2026.11.0', pod: 'another pod' };

const hashes = (content: Content) => ({
  configuration: content.marker.configuration,
  secrets: undefined,
});
const optional = (content: Content | undefined) => content && hashes(content);
const isDesired = (given: { readonly configuration: string } | undefined) =>
  given?.configuration === DESIRED.marker.configuration;

function* records(): Generator<ConfigurationRecord | undefined> {
  yield undefined;
  const rejected = { marker: DESIRED.marker, problem: 'no' };
  for (const { files, marker, sections: loaded } of [FORMER, DESIRED])
    for (const pending of [[], ['counter']])
      for (const failedIn of [undefined, POD, 'another pod'])
        for (const isRejected of [false, true])
          for (const start of [START, OTHER_START])
            yield {
              files,
              marker,
              loaded,
              pending,
              start: { ...start, workload: 'as before' },
              warnings: '',
              ...(failedIn !== undefined && { failed: { marker: DESIRED.marker, pod: failedIn } }),
              ...(isRejected && { rejected }),
            };
}

function* pods(mode: HubMode): Generator<PodStart | undefined> {
  if (mode !== 'crashing') yield undefined;
  const ends = mode === 'crashing' ? { times: 4, last: 'exit code 139', words: '' } : undefined;
  for (const startedFor of [FORMER, DESIRED])
    for (const workload of mode === 'crashing' ? ['as before', 'changed'] : ['as before']) {
      const pod = {
        uid: POD,
        restart: hashes(startedFor),
        workload,
        ends,
        createdFiles: [],
        errorsBefore: [],
      };
      yield { ...pod, rejected: { marker: DESIRED.marker, problem: 'no' } };
      for (const content of CONTENTS) {
        const preparedWith = optional(content);
        if (mode !== 'crashing') yield { ...pod, preparedWith, begunWith: preparedWith };
        // A pod whose container was restarted.
        if (content) yield { ...pod, preparedWith };
      }
    }
}

type InCluster = Pick<Observed, 'pod' | 'published' | 'template' | 'heldBy'>;

function* clusters(mode: HubMode): Generator<InCluster> {
  for (const heldBy of [undefined, 'InvalidSpec'])
    for (const pod of pods(mode))
      for (const template of CONTENTS)
        for (const content of CONTENTS)
          for (const restart of content ? [FORMER, DESIRED] : [undefined]) {
            const published = content &&
              restart && { hash: content.marker.configuration, restart: hashes(restart) };
            yield { pod, published, template: optional(template), heldBy };
          }
}

/** All other results are treated like `failed`. */
const LOADS: readonly (LoadResult | undefined)[] = [
  undefined,
  { type: 'restart', because: [] },
  { type: 'loaded', pending: [] },
  { type: 'failed', message: '', sections: [] },
];

type FromHub = Pick<Observed, 'mode' | 'start' | 'shown' | 'unusableFor'> & Pick<Situation, 'last'>;

function* hubs(mode: HubMode): Generator<FromHub> {
  if (mode === 'usable') {
    for (const shown of CONTENTS)
      for (const last of LOADS) yield { mode, start: START, shown: optional(shown), unusableFor: 0, last };
  } else {
    yield { mode, unusableFor: 1e12 };
    if (mode === 'starting' || mode === 'away') yield { mode, unusableFor: 0 };
  }
}

/** The strategy `restart` differs from `auto` only in the sections that it reloads. */
const STRATEGIES = ['auto', 'hot-reload'] as const;
const MODES: readonly HubMode[] = ['usable', 'recovery', 'crashing', 'starting', 'locked', 'away'];

function* situations(): Generator<Situation> {
  const known = [...records()];
  for (const mode of MODES)
    for (const { last, ...fromHub } of hubs(mode))
      for (const inCluster of clusters(mode)) {
        const observed: Observed = { ...fromHub, ...inCluster };
        for (const record of known)
          for (const strategy of STRATEGIES)
            for (const forced of [false, true])
              yield {
                content: DESIRED,
                policy: { strategy, autoRestart: true },
                record,
                forced,
                last,
                observed,
              };
      }
}

/** Whether a new pod is about to come, because a restart is published that has not begun. */
function isRestartAhead({ observed: { published, template, pod } }: Situation): boolean {
  const decided = published?.restart.configuration;
  return decided !== template?.configuration || decided !== pod?.restart?.configuration;
}

const isPublished = ({ observed: { published } }: Situation) =>
  published?.hash === DESIRED.marker.configuration;
const hasRecordOf = ({ record }: Situation, content: Content) =>
  record?.marker.configuration === content.marker.configuration;
const isUsable = ({ observed: { mode } }: Situation) => mode === 'usable';
const isRejectedNow = ({ observed: { pod }, record }: Situation) =>
  isDesired(pod?.rejected?.marker) || (record?.rejected !== undefined && record.start.id === START.id);

/** Whether the hub could not start, in a pod that has not begun with the desired content. */
function needsAnotherPod({ observed: { mode, pod }, record }: Situation): boolean {
  const isOfAnother =
    pod?.uid === record?.start.pod || (pod?.preparedWith !== undefined && !isDesired(pod.preparedWith));
  return ['recovery', 'crashing'].includes(mode) && isOfAnother;
}

/** Whether a situation with its step breaks the rule. */
type Rule = (situation: Situation, step: Step) => boolean;

const RECOVERY: Readonly<Partial<Record<Step, (situation: Situation) => boolean>>> = {
  Publish: (situation) => situation.observed.heldBy === undefined || !situation.record,
  // Either the pod that failed is restarted, or files are restored that the hub needs afterwards.
  GoBack: (situation) => {
    const { record, observed } = situation;
    if (knownOf(situation) !== 'Failed') return true;
    return (
      record!.failed!.pod === observed.pod?.uid || observed.published?.hash !== record!.marker.configuration
    );
  },
  GoBackUnchecked: () => true,
  Heal: (situation) =>
    situation.record !== undefined && ['InUse', 'Rejected', 'Failed'].includes(knownOf(situation)),
  AwaitRestart: (situation) => isRestartAhead(situation) && situation.observed.heldBy === undefined,
  // Reports that give the reason why there is no restart.
  ReportHeld: ({ observed }) => observed.heldBy !== undefined,
  ReportRejected: ({ record }) => record === undefined,
};

const RULES: Readonly<Record<string, Rule>> = {
  'only what the hub shows and is published is in use': (situation, step) =>
    step === 'ReportInUse' && !(isDesired(situation.observed.shown) && isPublished(situation)),

  'what this start has rejected is not loaded again without a request': (situation, step) =>
    step === 'Load' && isRejectedNow(situation) && !situation.forced && !isDesired(situation.observed.shown),

  'a verdict of the hub on a content is one of this start': (situation, step) =>
    isUsable(situation) && step === 'ReportRejected' && !isRejectedNow(situation),

  'a usable hub waits only for a restart that comes': (situation, step) =>
    isUsable(situation) &&
    step === 'AwaitRestart' &&
    !isRestartAhead(situation) &&
    // Exception: a pod that was started for the desired restart is itself being replaced.
    !isDesired(situation.observed.pod?.restart),

  'a hub in recovery mode is restarted, or the reason says why not': (situation, step) =>
    situation.observed.mode === 'recovery' && RECOVERY[step]?.(situation) !== true,

  'what failed does not stay published for the next start': (situation, step) =>
    !isUsable(situation) && step === 'ReportFailed' && isPublished(situation),

  'a publication changes something': (situation, step) =>
    step === 'Publish' &&
    isPublished(situation) &&
    isDesired(situation.observed.published?.restart) &&
    !isRestartAhead(situation) &&
    !needsAnotherPod(situation),

  'a content with which the process ends is taken back': (situation, step) => {
    const { observed, record } = situation;
    const { mode, pod } = observed;
    const isBlamed =
      mode === 'crashing' &&
      pod?.workload === record?.start.workload &&
      isDesired(pod?.preparedWith) &&
      isPublished(situation) &&
      hasRecordOf(situation, FORMER) &&
      record!.start.pod !== pod!.uid;
    if (!isBlamed || isRestartAhead(situation)) return false;
    return step !== 'GoBack' && knownOf(situation) !== 'Rejected';
  },

  'where the process of the hub ends, its configuration is blamed only if nothing else of its pod was changed':
    (situation, step) => {
      const { observed, record } = situation;
      const isBlamed = observed.mode === 'crashing' && step === 'GoBack' && knownOf(situation) !== 'Failed';
      return isBlamed && observed.pod?.workload !== record?.start.workload;
    },

  'a content is taken back only from a pod that has begun with it': (situation, step) => {
    const { observed, record } = situation;
    // A restart of the container has loaded the sections that had waited for one.
    const wasPending = hasRecordOf(situation, DESIRED);
    return (
      step === 'GoBack' &&
      observed.pod?.uid === record?.start.pod &&
      !wasPending &&
      knownOf(situation) !== 'Failed'
    );
  },

  'what a hub has run with in full is not taken back': (situation, step) =>
    step === 'GoBack' && hasRecordOf(situation, DESIRED) && situation.record!.pending.length === 0,

  'a hub that only does not answer keeps a content that is not known to have failed': (situation, step) =>
    ['starting', 'locked', 'away'].includes(situation.observed.mode) &&
    ['GoBack', 'GoBackUnchecked', 'Heal'].includes(step) &&
    knownOf(situation) !== 'Failed',
};

describe('the step in each of all situations', () => {
  const broken = new Map<string, Situation>();
  const steps = new Map<string, Set<Step>>(MODES.map((mode) => [mode, new Set()]));
  let count = 0;

  beforeAll(() => {
    const rules = Object.entries(RULES);
    for (const situation of situations()) {
      count += 1;
      const step = decide(situation);
      steps.get(situation.observed.mode)!.add(step);
      for (const [name, breaks] of rules)
        if (!broken.has(name) && breaks(situation, step)) broken.set(name, situation);
    }
  });

  test.each(Object.keys(RULES))('%s', (name) => {
    const example = broken.get(name);
    expect(
      example && {
        known: knownOf(example),
        step: decide(example),
        forced: example.forced,
        policy: example.policy,
        observed: example.observed,
        record: { ...example.record, files: undefined, loaded: undefined },
        last: example.last,
      },
    ).toBeUndefined();
  });

  test('is found for more than a million', () => {
    expect(count).toBeGreaterThan(1_000_000);
  });

  test.each<[HubMode, Step[]]>([
    ['usable', ['AwaitRestart', 'Load', 'ReportFailed', 'ReportInUse', 'ReportLoad', 'ReportRejected']],
    [
      'recovery',
      ['AwaitRestart', 'GoBack', 'GoBackUnchecked', 'Heal', 'Publish', 'ReportHeld', 'ReportRejected'],
    ],
    ['crashing', ['Await', 'GoBack', 'Publish', 'ReportFailed', 'ReportHeld', 'ReportRejected']],
    ['starting', ['Await', 'GoBack', 'Hold', 'Publish', 'ReportFailed', 'ReportHeld', 'ReportRejected']],
    ['locked', ['Await', 'GoBack', 'Hold', 'Publish', 'ReportFailed', 'ReportHeld', 'ReportRejected']],
    ['away', ['Await', 'GoBack', 'Hold', 'Publish', 'ReportFailed', 'ReportHeld', 'ReportRejected']],
  ])('is one of these while the hub is %s: %j', (mode, expected) => {
    expect([...steps.get(mode)!].sort()).toEqual(expected);
  });
});
