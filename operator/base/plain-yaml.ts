/** Characters of YAML that is parsed where it is used: at most some 10 ms. */
export const SHORT_YAML = 8_192;

/** The place of an anchor or an alias, or one that looks like it. */
const REFERENCE = /(?:^|[\s[{,:])[&*]/;

/** Whether the cost of a YAML text is bounded by its length: it is short and refers to no parts of itself. */
export const isPlainYaml = (text: string): boolean => text.length <= SHORT_YAML && !REFERENCE.test(text);
