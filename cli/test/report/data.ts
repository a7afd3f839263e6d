import type { CaseResult, RunResult } from '../result';
import type { CoverageResult } from './coverage';

/** The result as data, for `-o json` and `-o yaml`. */
export function resultData(
  { versions, refused, unsimulated, silentTriggers, cases }: RunResult,
  more: {
    readonly hub: { readonly name: string; readonly namespace?: string; readonly timezone: string };
    readonly warnings: readonly string[];
    readonly timeline: boolean;
    readonly coverage?: CoverageResult & { readonly minCoverage?: number };
  },
): object {
  const { hub, warnings, timeline, coverage } = more;
  const failed = cases.filter(({ faults }) => faults.length > 0).length;
  return {
    summary: { passed: cases.length - failed, failed, refused: refused.length },
    hub: { ...hub, ...(versions && { version: versions.hub, python: versions.python }) },
    cases: cases.map((each) => caseData(each, timeline)),
    refused,
    warnings,
    unsimulated,
    silentTriggers,
    withoutState: [...new Set(cases.flatMap(({ withoutState }) => withoutState))].sort(),
    ...(coverage && { coverage }),
  };
}

function caseData(result: CaseResult, timeline: boolean): object {
  const { file, test, faults, warnings, virtualSeconds, realSeconds, events } = result;
  return {
    file,
    line: test.line,
    name: test.name,
    passed: faults.length === 0,
    faults,
    warnings,
    virtualSeconds,
    realSeconds,
    ...(timeline && { timeline: events.map(({ file: _file, case: _case, ...event }) => event) }),
  };
}
