const MARK = '…';

/**
 * At most `longest` characters (UTF-16 code units) of `text`; a truncated text ends with an ellipsis. No surrogate pair
 * is split: the API server would store another character, and the next comparison would differ.
 */
export function truncate(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = longest - MARK.length;
  return text.slice(0, isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end) + MARK;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
