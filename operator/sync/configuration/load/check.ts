import { checkConfig } from '../../../client/setup/core';
import { truncate } from '../../../base/truncate';
import { type CheckSubject, withLeftOut } from './left-out';

/** Characters of the check's words in a condition. */
const MAX_PROBLEM_LENGTH = 3_000;
/** Characters of the warnings that are kept. */
const MAX_WARNINGS_LENGTH = 8_000;

/** A problem because of which some of the files are not loaded, for a condition. */
export interface Problem {
  readonly problem: string;
  /** The hub would start, and leave out the item that the problem names. */
  readonly isWarning: boolean;
}

/** The findings of the hub's own check of its files, without secrets. */
export interface CheckResult {
  /** The errors, with which the hub would not start, and the warnings that were not known before. */
  readonly problem: Problem | undefined;
  /** The items that the hub would leave out, by the answer of the check and by the log. Empty: none. */
  readonly warnings: string;
}

/**
 * Has the hub check its files. Its answer has no word of a bad automation, script or template entity: the hub leaves those out,
 * which only its log says.
 *
 * @param known warnings of the configuration before; undefined: none is new
 */
export async function checkInHub(subject: CheckSubject, known: string | undefined): Promise<CheckResult> {
  const [answer, leftOut] = await withLeftOut(subject, () => checkConfig(subject.client.rest));
  // Redacted before it is cut: half a secret would not be recognised.
  const words = (text: string | null) => subject.redact(text ?? '').trim();
  const lines = new Set([...words(answer.warnings).split('\n'), ...leftOut.trim().split('\n')]);
  const warnings = truncate([...lines].filter(Boolean).join('\n'), MAX_WARNINGS_LENGTH);
  const errors = words(answer.errors);
  const problem = [errors, newLines(warnings, known ?? warnings)].filter(Boolean).join('\n');
  return {
    problem: problem ? { problem: truncate(problem, MAX_PROBLEM_LENGTH), isWarning: !errors } : undefined,
    warnings,
  };
}

/** The lines of `text` that `known` does not have. A line number may have moved. */
export function newLines(text: string, known: string): string {
  const before = new Set(known.split('\n').map(withoutLineNumbers));
  const lines = text.split('\n').filter((line) => line.trim() && !before.has(withoutLineNumbers(line)));
  return lines.join('\n');
}

const withoutLineNumbers = (line: string): string => line.replace(/\bline \d+/g, 'line');
