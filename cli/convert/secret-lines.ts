import { hasSecret, isSecretKey } from '../export/likely-secrets';

/** A line that looks like a secret. Lines are counted from 1. */
interface SecretLine {
  readonly line: number;
  /** The part of the line that looks like a secret, in words. */
  readonly subject: string;
}

/** A key with a value, such as in the comment `# password: hunter22`. */
const PAIR = /^[#\s-]*["']?([\w-]+)["']?\s*[:=]\s*["']?[^\s"'{!&*|>][^\s{]{3,}\s*$/;

/** The comments of a text that look like secrets. YAML parsers do not return comments with their places. */
export const secretComments = (text: string): readonly SecretLine[] =>
  found(text, (line) => /(?:^|\s)#.*/.exec(line)?.[0], 'the comment');

/** The lines of a text of any form that look like secrets. */
export const secretLines = (text: string): readonly SecretLine[] => found(text, (line) => line, 'the line');

function found(text: string, partOf: (line: string) => string | undefined, subject: string): SecretLine[] {
  return text.split('\n').flatMap((content, index) => {
    const part = partOf(content)?.trim();
    if (!part) return [];
    const key = PAIR.exec(part)?.[1];
    const isSecret = hasSecret(part) || (key !== undefined && isSecretKey(key));
    return isSecret ? [{ line: index + 1, subject }] : [];
  });
}
