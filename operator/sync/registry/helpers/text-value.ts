import { runInThisContext } from 'node:vm';
import type { HubHelper } from '../../../kinds';

/** Maximum milliseconds of a comparison. A pattern may backtrack for years. */
const LONGEST_COMPARISON = 50;

/**
 * Finds why a text helper cannot have a text. The hub raises an error for such a text, so that an update is
 * refused although it is stored, and the helper is not loaded at the next start.
 *
 * @returns the end of a sentence, without the text, which may be secret; undefined when the helper can have it
 */
export function textValueProblem(
  { min = 0, max = 100, pattern }: NonNullable<HubHelper['spec']['text']>,
  text: string,
): string | undefined {
  const { length } = [...text];
  if (length < min) return `has ${length} characters, and text.min is ${min}`;
  if (length > max) return `has ${length} characters, and text.max is ${max}`;
  return pattern === undefined || matches(pattern, text) ? undefined : 'does not match text.pattern';
}

/**
 * Reports whether a text begins with a match of a pattern, as the hub compares them. True if that is not
 * certain: Python and JavaScript have different classes for characters outside of ASCII.
 */
function matches(pattern: string, text: string): boolean {
  const isCertain = /^[ -~]*$/.test(text) && !/[\u{10000}-\u{10ffff}]|\\B/u.test(pattern);
  if (!isCertain) return true;
  const code = `new RegExp(${JSON.stringify(`^(?:${pattern})`)}).test(${JSON.stringify(text)})`;
  try {
    return runInThisContext(code, { timeout: LONGEST_COMPARISON }) as boolean;
  } catch {
    return true; // it takes too long
  }
}
