import { fewNames } from '../../../operator/base/few-names';
import { count, oneLine } from '../../output';
import type { Terminal } from '../../terminal';
import type { SeenCall, SilentTrigger } from '../protocol';
import { momentOf, spanOf } from '../report/times';
import { callOf } from '../report/words';
import type { Refused } from '../hub-answers';
import type { CallDifference, ChangedCall } from './compare-calls';
import { CONFIGURATION } from './play';

/** The result of `--record`, in the form of `-o json` and `-o yaml`. */
export interface RecordReport {
  readonly hub: {
    readonly name: string;
    readonly namespace: string;
    readonly timezone: string;
    /** The version of the running hub. */
    readonly version: string;
    readonly simulated: string;
  };
  readonly period: { readonly from: string; readonly to: string; readonly seconds: number };
  readonly history: {
    readonly changes: number;
    readonly entities: readonly string[];
    /** Entities without a state in the recorder, and entities that were left out. */
    readonly without: readonly string[];
    /** Entities to which automations and scripts of the files refer and that the hub does not have. */
    readonly unknown: readonly string[];
    /** Always true: states come from the history, even where a simulated call would have changed them. */
    readonly openLoop: true;
  };
  readonly calls: { readonly before: number; readonly after: number };
  readonly differences: readonly CallDifference[];
  readonly changed: readonly ChangedCall[];
  /** Resources in the cluster that are not in the files, and are treated as deleted. */
  readonly removed: readonly string[];
  readonly refused: { readonly before: readonly Refused[]; readonly after: readonly Refused[] };
  /** Objects of the running hub that are not simulated. */
  readonly notCompared: readonly { readonly object: string; readonly reason: string }[];
  /** Domains whose actions are recorded but not executed. */
  readonly unsimulated: readonly string[];
  /** Triggers in the files that a history cannot fire, because it consists of states and has no events. */
  readonly silentTriggers: readonly SilentTrigger[];
  /** Warnings of automations, scripts and templates that occur only with the files. */
  readonly warnings: readonly string[];
}

/** Most lines about calls that only one side makes. */
const FIRST = 12;
/** Most names in one line of the report. */
const MOST_NAMED = 10;

export function recordLines(report: RecordReport, paint: Terminal['paint']): string[] {
  const { hub, period, history, calls, differences, changed } = report;
  const span = `${spanOf(period.seconds)} from ${momentOf(period.from)} to ${momentOf(period.to)}`;
  return [
    oneLine(`Home Assistant ${hub.simulated}, Hub ${hub.namespace}/${hub.name} (${hub.timezone}): ${span}`),
    `${count(history.changes, 'change')} of ${history.entities.length === 1 ? '1 entity' : `${history.entities.length} entities`} played: ${count(calls.before, 'call')} as the hub is now, ${calls.after} with these files.`,
    'Open loop: lights and all else are what they were, also where a call would have changed them.',
    ...notes(report),
    ...(differences.length === 0
      ? ['No call differs.']
      : [
          'automation, action, target: calls now -> with these files',
          ...differences.map((each) => `  ${differenceLine(each)}`),
          ...firstLines(changed, paint),
        ]),
    ...report.refused.after
      .filter((each) => isNew(each, report))
      .map(({ entity, message }) => `error: the hub does not load ${oneLine(entity)}: ${oneLine(message)}`),
  ];
}

/**
 * Whether a definition is refused only with the files. The configuration may be refused for several reasons,
 * so its messages are compared too.
 */
export const isNew = ({ entity, message }: Refused, { refused }: Pick<RecordReport, 'refused'>): boolean =>
  !refused.before.some(
    (each) => each.entity === entity && (entity !== CONFIGURATION || each.message === message),
  );

function notes(report: RecordReport): string[] {
  const { hub, history, removed, refused, notCompared, unsimulated, warnings } = report;
  const old = refused.before.map(({ entity }) => entity);
  const note = (names: readonly string[], text: string) =>
    names.length === 0 ? [] : [`${text}: ${named(names)}.`];
  return [
    ...(hub.version === hub.simulated
      ? []
      : [
          oneLine(
            `warning: The hub runs ${hub.version}, and both sides are simulated with ${hub.simulated}.`,
          ),
        ]),
    ...note(history.unknown, 'warning: Named by these files and not in the hub'),
    ...note(removed, 'In the cluster and not in these files, counted as deleted'),
    ...note(history.without, 'Not played, left out or without a state in the recorder'),
    ...note(old, 'Not loaded by the simulation as the hub is now'),
    ...note(
      report.silentTriggers.map(({ trigger, entity }) => `${trigger} of ${entity}`),
      'Triggers that the history does not fire',
    ),
    ...note(unsimulated, 'Not simulated, their calls are recorded'),
    ...note(
      notCompared.map(({ object }) => object),
      'Not compared, since the API of the hub does not show them',
    ),
    ...warnings.slice(0, MOST_NAMED).map((each) => `warning: only with these files: ${oneLine(each)}`),
  ];
}

function named(names: readonly string[]): string {
  return oneLine(fewNames(names, MOST_NAMED));
}

/** A line such as `automation.hall_off, light.turn_off, light.hall: 343 -> 390 (+47), 12 at another time`. */
function differenceLine({
  by,
  action,
  entities,
  before,
  after,
  anotherTime,
  otherData,
}: CallDifference): string {
  const name = [by ?? '(unknown)', action, ...(entities.length > 0 ? [named(entities)] : [])].join(', ');
  const sum = after === before ? '' : ` (${after > before ? '+' : ''}${after - before})`;
  return oneLine(
    [
      `${name}: ${before} -> ${after}${sum}`,
      ...(anotherTime > 0 ? [`${anotherTime} at another time`] : []),
      ...(otherData > 0 ? [`${otherData} with other data`] : []),
    ].join(', '),
  );
}

function firstLines(changed: readonly ChangedCall[], paint: Terminal['paint']): string[] {
  const left = changed.length - FIRST;
  return [
    'the first of them, - as the hub is now, + with these files:',
    ...changed.slice(0, FIRST).map((call) => {
      const isAfter = call.side === 'after';
      const sign = paint(isAfter ? 'green' : 'red', isAfter ? '+' : '-');
      return `  ${sign} ${momentOf(call.at)}  ${shown(call)}`;
    }),
    ...(left > 0 ? [`  ${left} more: -o json has all of them`] : []),
  ];
}

const shown = (call: SeenCall): string =>
  `${callOf(call)}${call.by == null ? '' : ` by ${oneLine(call.by)}`}`;
