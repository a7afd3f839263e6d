/** Masks the secrets in a text. */
export type Redact = (text: string) => string;

const MASK = '***';

// Characters. Shorter values ("on", "1", "yes") occur everywhere: masking them would make texts unreadable, and the
// masked places would reveal the value.
const MIN_SECRET_LENGTH = 4;

const PASSWORD_IN_URL = /^[\w+.-]+:\/\/[^/?#\s:@]*:([^/?#\s@]+)@/;

/**
 * Returns a function that replaces each of `values` in a text by `***`, also JSON-escaped, URL-encoded or form-encoded,
 * each line of a value
 * with several lines, and the password in a URL. Values shorter than four characters are not masked.
 */
export function redactor(values: Iterable<string>): Redact {
  const forms = new Set<string>();
  for (const value of values) {
    for (const part of [value, PASSWORD_IN_URL.exec(value)?.[1] ?? '', ...value.split(/\r?\n/)]) {
      for (const form of writtenForms(part.trim())) {
        if (form.length >= MIN_SECRET_LENGTH) forms.add(form);
      }
    }
  }
  if (forms.size === 0) return (text) => text;
  // Longest first: a secret that contains another one must be masked as a whole.
  const alternatives = [...forms].sort((a, b) => b.length - a.length).map(escapeForPattern);
  const pattern = new RegExp(alternatives.join('|'), 'g');
  return (text) => text.replace(pattern, MASK);
}

/** The value with its texts masked, keys too. A number, or true, that shows a secret becomes a masked text. */
export function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [redact(key), redactValue(part, redact)]),
    );
  const text = String(value);
  return redact(text) === text ? value : redact(text);
}

function writtenForms(value: string): string[] {
  if (value.length < MIN_SECRET_LENGTH) return [];
  const bytes = Buffer.from(value, 'utf8').toString('utf8'); // a lone surrogate cannot be URL-encoded
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(bytes),
    new URLSearchParams({ '': bytes }).toString().slice(1),
  ];
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
