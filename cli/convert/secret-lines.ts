import { hasSecret, isSecretKey } from '../export/likely-secrets';

/** A line that looks like a secret, counted from 1. */
interface SecretLine {
  readonly line: number;
  /** What of it. */
  readonly subject: string;
}

/** A key with its value that was taken out of use: `# password: hunter22`. */
const PAIR = /^[#\s-]*["']?([\w-]+)["']?\s*[:=]\s*["']?[^\s"'{!&*|>][^\s{]{3,}\s*$/;

/** The comments of a text that look like secrets, which no parser hands out with their places. */
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
