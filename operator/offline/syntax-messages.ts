import { type ErrorCode, YAMLError } from 'yaml';

// The library's own messages quote the source, which may contain a secret, and the logs of a CI pipeline may
// be public.

const BY_CODE: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias has an anchor or a tag of its own',
  BAD_ALIAS: 'an alias or an anchor has no valid name: quote a text that begins with * or &',
  BAD_COLLECTION_TYPE: 'a tag is not of this kind of value',
  BAD_DIRECTIVE: 'a directive is not valid',
  BAD_DQ_ESCAPE: 'a text in double quotes has an escape sequence that is not valid',
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  BAD_PROP_ORDER: 'an anchor or a tag is in the wrong place',
  BAD_SCALAR_START: 'a text begins with a character that is not allowed there: quote it',
  BLOCK_AS_IMPLICIT_KEY:
    'a key begins a list or an object in the same line, or a value with a colon is not quoted',
  BLOCK_IN_FLOW: 'brackets contain a list or an object without brackets',
  DUPLICATE_KEY: 'a key occurs twice',
  IMPOSSIBLE: 'the parser does not know this form',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a colon, comma, quote, bracket or space is missing',
  MULTILINE_IMPLICIT_KEY: 'a key has several lines, or a colon is missing',
  MULTIPLE_ANCHORS: 'a value has several anchors',
  MULTIPLE_DOCS: 'there are several documents',
  MULTIPLE_TAGS: 'a value has several tags',
  NON_STRING_KEY: 'a key is not text: quote it',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation: use spaces',
  TAG_RESOLVE_FAILED: 'a value does not have the form of its tag',
  UNEXPECTED_TOKEN: 'there is text where none can be: check quotes, brackets and indentation',
};

/** Describes the syntax error of a text in a sentence that quotes nothing from it. */
export function syntaxMessage(error: unknown): string {
  const reason =
    error instanceof YAMLError
      ? BY_CODE[error.code]
      : error instanceof RangeError // the stack of this program is full
        ? BY_CODE.RESOURCE_EXHAUSTION
        : 'an alias has no anchor before it, or aliases expand to too much, or << merges what is not an object';
  return `This is not YAML: ${reason}.`;
}
