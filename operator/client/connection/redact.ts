import { truncate } from '../../base/truncate';
import { SecretForms } from './secret-forms';

/** Masks the secrets in a text. Takes any text, of which a very long one loses its end, and never throws. */
export type Redact = (text: string) => string;

/** Characters of a text that are looked at. No text that is shown has more, and each takes up to 50 bytes meanwhile. */
const LONGEST_TEXT = 2 ** 18;

const MASK = '***';

/**
 * Returns a function that replaces each of `values` in a text by `***`, in each of its written forms, see
 * {@link SecretForms}. Values of any number and length cost what reading them once costs, at the first text.
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
 * The values of now and those of before, for texts that may still quote these. Former values are forgotten by the memory that
 * they take: of values that change for ever, those of the last while are masked.
 */
export class RememberedSecrets {
  private forms = new SecretForms();
  /** Bytes of the values with which this generation began: those of now never make their predecessors forgotten. */
  private base: number | undefined;
  private former: SecretForms | undefined;

  /** Masks all values that are remembered. */
  readonly redact: Redact = neverThrowing((text) => {
    const shown = masked(text, this.forms);
    return this.former ? masked(shown, this.former) : shown;
  });

  /** @param most bytes that two generations of values take each, beside those of now */
  constructor(private readonly most: number) {}

  /** The memory that the texts take, in bytes. */
  get size(): number {
    return this.forms.size + (this.former?.size ?? 0);
  }

  /** @param values all of now */
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

/** A fault of the masking, such as a lack of memory, must neither show the text nor quote a value in its error. */
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
  // The mark at the cut has the beginning of a value before it masked as well.
  const text = truncate(whole, LONGEST_TEXT);
  let result = '';
  let end = 0;
  for (const [from, to] of forms.placesIn(text)) {
    result += text.slice(end, from) + MASK;
    end = to;
  }
  return result + text.slice(end);
}
