/** Most characters of YAML that is parsed in this process: parsing takes about 10 ms at most. */
export const SHORT_YAML = 8_192;

/** A character at a place where it may begin an anchor or an alias. */
const REFERENCE = /(?:^|[\s[{,:])[&*]/;

/**
 * Whether the length of a YAML text bounds the cost to parse it: it is short and has no anchors or aliases,
 * which can expand.
 */
export const isPlainYaml = (text: string): boolean => text.length <= SHORT_YAML && !REFERENCE.test(text);
