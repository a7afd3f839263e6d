// Versions of Home Assistant, such as `2026.11.2`.

/** The oldest version that is tested; docs/reference/supported-versions.md names it. */
export const OLDEST_SUPPORTED = '2025.11.0';

/** The newest version that is tested. */
export const NEWEST_SUPPORTED = '2026.11.0';

/**
 * From this version on, a hub takes the settings of its web server over its API and ignores them in
 * configuration.yaml.
 */
export const HTTP_BY_API = '2026.8.0';

/** A version, such as `2026.11.2`, `2026.11` or `2026.11.0b3`. */
const VERSION = /^(\d+)\.(\d+)(?:\.(\d+)(?:b(\d+))?)?$/;

export const isComparable = (version: string): boolean => VERSION.test(version);

/**
 * Whether `version` is older than `other`. Names (`stable`), digests and nightly builds cannot be compared:
 * the result is false. `2026.11` counts as the last patch of that month.
 */
export function isLower(version: string, other: string): boolean {
  const [, ...left] = VERSION.exec(version) ?? [];
  const [, ...right] = VERSION.exec(other) ?? [];
  if (left.length === 0 || right.length === 0) return false;
  for (const index of [0, 1, 2]) {
    if (left[index] === undefined || right[index] === undefined) return false;
    const difference = Number(left[index]) - Number(right[index]);
    if (difference !== 0) return difference < 0;
  }
  // A beta comes before its release.
  return Number(left[3] ?? Infinity) < Number(right[3] ?? Infinity);
}

/**
 * Whether a hub runs another version than the tag of its image names. A tag that cannot be compared names no
 * version. The tag of an image that a user has built, such as `1.4.0`, is none of Home Assistant, whose
 * versions begin with a year.
 */
export const isOtherVersion = (tag: string, version: string): boolean =>
  /^20\d\d\./.test(tag) && (isLower(tag, version) || isLower(version, tag));
