import { truncate } from '../../base/truncate';
import { SecretForms } from './secret-forms';

/** Masks the secrets in a text of any length, and never throws. A very long text is truncated. */
export type Redact = (text: string) => string;

/**
 * Characters of a text that are processed. No text that is shown is longer, and each character takes up to 50
 * bytes of memory during the processing.
 */
const LONGEST_TEXT = 2 ** 18;

const MASK = '***';

/**
 * Returns a function that replaces each of `values` in a text by `***`, in each of its written forms; see
 * {@link SecretForms}. The values are read at the first text, in time linear to their total length.
 */
export function redactor(values: Iterable<string>): Redact {
  let unread = [...values];
  let forms = new SecretForms();
  return neverThrowing((text) => {
    if (unread.length > 0) {
      forms = new SecretForms(unread);
      unread = [];
    }
    return masked(text, forms);
  });
}

/**
 * The current and previous values of secrets, for texts that may still quote a previous value. Two
 * generations of values are kept, each with a limited size. If values change continually, only those of the
 * recent past are masked.
 */
export class RememberedSecrets {
  private forms = new SecretForms();
  /**
   * Bytes of the values with which this generation began. The current values do not count toward the limit,
   * so that they do not displace previous ones.
   */
  private base: number | undefined;
  private former: SecretForms | undefined;

  /** Masks all values that are remembered. */
  readonly redact: Redact = neverThrowing((text) => {
    const shown = masked(text, this.forms);
    return this.former ? masked(shown, this.former) : shown;
  });

  /** @param most bytes of each of two generations of values, in addition to the current values */
  constructor(private readonly most: number) {}

  /** Memory of the values, in bytes. */
  get size(): number {
    return this.forms.size + (this.former?.size ?? 0);
  }

  /** @param values all current values */
  remember(values: Iterable<string>): void {
    if (this.forms.size > (this.base ?? 0) + this.most) {
      this.former = this.forms;
      this.forms = new SecretForms();
      this.base = undefined;
    }
    for (const value of values) this.forms.add(value);
    this.base ??= this.forms.size;
  }
}

/**
 * A copy of the value in which texts and keys are masked. A number or boolean that equals a secret becomes a
 * masked text.
 */
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

/**
 * Wraps a function for masking. If it fails, for example for lack of memory, the text must not be shown, and
 * the error must not quote a value.
 */
function neverThrowing(redact: Redact): Redact {
  return (text) => {
    try {
      return redact(text);
    } catch {
      return MASK;
    }
  };
}

function masked(whole: string, forms: SecretForms): string {
  // Truncation adds a mark, before which the beginning of a secret is masked too.
  const text = truncate(whole, LONGEST_TEXT);
  let result = '';
  let end = 0;
  for (const [from, to] of forms.placesIn(text)) {
    result += text.slice(end, from) + MASK;
    end = to;
  }
  return result + text.slice(end);
}
