/**
 * Patterns of texts in a test file. The schema contains them for editors, and the compiler uses them to parse
 * the texts.
 */

const NUMBER = '\\d+(\\.\\d+)?';
const UNITS = `(${NUMBER}d ?)?(${NUMBER}h ?)?(${NUMBER}m ?)?(${NUMBER}s ?)?(${NUMBER}ms)?`;
const DURATION = `${NUMBER}|(?=\\d)${UNITS}|\\d{1,3}:[0-5]\\d:[0-5]\\d`;
const CLOCK = '([01]?\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?';
const DATE_TIME = '\\d{4}-\\d\\d-\\d\\d[T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?';
const SUN = 'sunset|sunrise|dawn|dusk';

export const patterns = {
  entity: '^[a-z0-9_]+\\.[a-z0-9_]+$',
  action: '^[a-z0-9_]+\\.[a-z0-9_]+$',
  author: '^(automation|script)\\.[a-z0-9_]+$',
  duration: `^(${DURATION})$`,
  dateTime: `^${DATE_TIME}$`,
  moment: `^(${CLOCK}|noon|midnight|(${SUN})( *[+-] *(${DURATION}))?|${DATE_TIME})$`,
  timezone: '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$',
} as const;

/** The error message for a text that does not match, by pattern. */
export const patternMessages: Readonly<Record<string, string>> = {
  [patterns.entity]: 'Write a domain, a dot and a name in lower case, such as light.hall.',
  [patterns.author]: 'Write the entity id of an automation or a script, such as automation.hall_light.',
  [patterns.duration]:
    'Write seconds (90), or units from the largest on (1h30m, 5m, 30s, 500ms), or 00:05:00.',
  [patterns.dateTime]: 'Write a local time without a zone, such as 2026-11-02T18:00.',
  [patterns.moment]:
    'Write a time of day ("23:00"), noon, midnight, sunset, sunrise, dawn or dusk, with an offset (sunset - 30m), or a local time without a zone (2026-11-03T07:00).',
  [patterns.timezone]: 'Write a time zone such as Europe/Berlin.',
};
