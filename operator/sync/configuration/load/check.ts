import { checkConfig } from '../../../client/core';
import type { HubClient } from '../../../client/hub-client';
import type { Redact } from '../../../client/redact';
import { truncate } from '../../../truncate';

/** Of the words of the check, in a condition. */
const MAX_PROBLEM_LENGTH = 3_000;
/** Of the warnings that are kept. */
const MAX_WARNINGS_LENGTH = 8_000;

/** The findings of the hub's own check of its files, without secrets. Empty: none. */
export interface CheckResult {
  /** Why the hub would not start with the files. */
  readonly errors: string;
  /** Which sections the hub would leave out. */
  readonly warnings: string;
  /** The warnings that were not known before. */
  readonly newWarnings: string;
}

/** @param known warnings of the configuration before */
export async function checkInHub(
  { rest }: Pick<HubClient, 'rest'>,
  redact: Redact,
  known: string,
): Promise<CheckResult> {
  const answer = await checkConfig(rest);
  // Redacted before it is cut: half a secret would not be recognised.
  const words = (text: string | null) => redact(rest.redact(text ?? '')).trim();
  const warnings = truncate(words(answer.warnings), MAX_WARNINGS_LENGTH);
  return { errors: words(answer.errors), warnings, newWarnings: newLines(warnings, known) };
}

/** The problem because of which some of the files are not loaded, for a condition; undefined: none. */
export function problemOf({ errors, newWarnings }: CheckResult): string | undefined {
  const words = [errors, newWarnings].filter(Boolean).join('\n');
  return words ? truncate(words, MAX_PROBLEM_LENGTH) : undefined;
}

/** The lines of `text` that `known` does not have. A line number may have moved. */
export function newLines(text: string, known: string): string {
  const before = new Set(known.split('\n').map(withoutLineNumbers));
  const lines = text.split('\n').filter((line) => line.trim() && !before.has(withoutLineNumbers(line)));
  return lines.join('\n');
}

const withoutLineNumbers = (line: string): string => line.replace(/\bline \d+/g, 'line');
