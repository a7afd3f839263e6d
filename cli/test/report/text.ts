import { count, oneLine } from '../../output';
import type { Terminal } from '../../terminal';
import type { Refused } from '../hub-answers';
import type { SilentTrigger } from '../protocol';
import type { CaseResult, RunResult } from '../result';
import { type CoverageResult, type Covered, percentOf } from './coverage';
import { faultLines } from './fault';
import { timelineOf } from './timeline';
import { spanOf } from './times';

type Paint = Terminal['paint'];

/** The line of a case, followed by the reasons of a failure, its warnings and, if requested, its timeline. */
export function caseLines(
  result: CaseResult,
  { paint, timeline }: { readonly paint: Paint; readonly timeline: boolean },
): string[] {
  const { file, test, faults, warnings, virtualSeconds, realSeconds } = result;
  const failed = faults.length > 0;
  const mark = failed ? paint('red', 'FAIL') : paint('green', 'ok  ');
  const spans = paint('dim', `${spanOf(virtualSeconds)} in ${spanOf(realSeconds)}`);
  const logged = new Set(faults.filter(({ kind }) => kind === 'log').map(({ message }) => message));
  const allowed = [...new Set(warnings)].filter((each) => ![...logged].some((fault) => fault.includes(each)));
  return [
    `  ${mark}  ${oneLine(test.name)}  ${spans}`,
    ...faults.flatMap((fault) => faultLines(fault, file)).map((line) => `        ${line}`),
    ...allowed.map((each) => `        ${paint('yellow', 'warning')}  ${oneLine(each)}`),
    ...(timeline ? timelineOf(result).map((line) => `        ${line}`) : []),
  ];
}

/** The line about a definition that the hub does not load, with its place in the files. */
export const refusedLine = ({ entity, name, message }: Refused, place: string | undefined): string =>
  `${place === undefined ? '' : `${place}: `}error: the hub does not load ${oneLine(entity === 'configuration' ? name : entity)}: ${oneLine(message)}`;

/** Most names in a list of entities. */
const MOST_NAMED = 20;

/** Lines about triggers with which a test cannot start an automation, and what to do instead. */
function silentLines(triggers: readonly SilentTrigger[]): string[] {
  if (triggers.length === 0) return [];
  const named = triggers.slice(0, MOST_NAMED).map(({ trigger, entity }) => `${trigger} of ${entity}`);
  const more = triggers.length > MOST_NAMED ? ` and ${triggers.length - MOST_NAMED} more` : '';
  return [
    `warning: Nothing fires these triggers here: ${oneLine(named.join(', '))}${more}. A test starts the automation by call: {action: automation.trigger, …}.`,
  ];
}

/**
 * Notes after the cases: entities without a state, triggers that nothing fires, and sections that are not
 * simulated.
 */
export function notes({
  cases,
  unsimulated,
  silentTriggers,
}: Pick<RunResult, 'cases' | 'silentTriggers' | 'unsimulated'>): string[] {
  const without = [...new Set(cases.flatMap(({ withoutState }) => withoutState))].sort();
  const named = without.slice(0, MOST_NAMED).join(', ');
  const more = without.length > MOST_NAMED ? ` and ${without.length - MOST_NAMED} more` : '';
  return [
    ...(without.length > 0
      ? [
          `warning: ${without.length === 1 ? '1 entity that the home names has' : `${without.length} entities that the home names have`} no state: ${oneLine(named)}${more}. Give them one in given.`,
        ]
      : []),
    ...silentLines(silentTriggers),
    ...(unsimulated.length > 0
      ? [`Not simulated, their calls are recorded: ${oneLine(unsimulated.join(', '))}.`]
      : []),
  ];
}

export function coverageLines({ items, hit, total, percent }: CoverageResult): string[] {
  if (items.length === 0) return ['coverage: there is no automation or script'];
  const width = Math.max(...items.map(({ entity }) => entity.length));
  return [
    ...items.flatMap((item) => itemLines(item, width)),
    `coverage: ${hit} of ${total} paths (${percent} %)`,
  ];
}

function itemLines({ entity, hit, total, never }: Covered, width: number): string[] {
  const head = `  ${String(percentOf(hit, total)).padStart(3)} %  ${entity.padEnd(width)}  ${hit}/${total}`;
  const longest = Math.max(0, ...never.map(({ what }) => what.length));
  return [
    indented(head),
    ...never.map(({ what, place }) => indented(`           ${what.padEnd(longest)}  ${place}`)),
  ];
}

/** The line in printable form, with its indentation preserved. */
const indented = (line: string): string => `${/^ */.exec(line)![0]}${oneLine(line)}`;

export function summary(cases: readonly CaseResult[], seconds: number): string {
  const failed = cases.filter(({ faults }) => faults.length > 0).length;
  const virtual = cases.reduce((all, { virtualSeconds }) => all + virtualSeconds, 0);
  return `${cases.length - failed} passed, ${failed} failed: ${spanOf(virtual)} of the home in ${spanOf(seconds)}`;
}

/**
 * The heading, such as `Home Assistant 2026.11.0, Hub home/my-home (Europe/Berlin): 3 automations, 1 script,
 * 1 scene`.
 */
export function heading(given: {
  readonly version: string;
  readonly hub: string;
  readonly place: string;
  readonly automations: number;
  readonly scripts: number;
  readonly scenes: number;
}): string {
  const { version, hub, place, automations, scripts, scenes } = given;
  const parts = [count(automations, 'automation'), count(scripts, 'script'), count(scenes, 'scene')];
  return oneLine(`Home Assistant ${version}, Hub ${hub} (${place}): ${parts.join(', ')}`);
}
