import type { FormField } from '../../connection/flow-step';
import type { Answer, Value } from './answer';
import { coerce } from './coercion';
import { schemaOf } from './schema';

/** Finds the answer for a field, whose name is `field` or `section.field`. */
type Lookup = (field: string) => Answer | undefined;

/** A file to upload before the form is sent. The id of the upload becomes the value. */
export interface Upload {
  /** Keys that lead to the value in the form's data. */
  readonly path: readonly string[];
  readonly file: Extract<Value, { readonly type: 'file' }>;
}

interface FilledForm {
  readonly data: Readonly<Record<string, unknown>>;
  readonly uploads: readonly Upload[];
  /** All fields of the form: `field` or `section.field`. */
  readonly fields: readonly string[];
  /** Ids of the answers that were used. */
  readonly used: readonly string[];
}

/** A field without a valid answer. */
interface FieldProblem {
  readonly field: string;
  readonly text: string;
}

/**
 * Fills in a form like a user of the hub's UI: with the answers, and otherwise with the values that the hub
 * suggests, which are the current ones in the form of an existing entry. `isCleared` returns true for fields
 * whose answer was removed from the spec: they are left empty.
 */
export function fillForm(
  fields: readonly FormField[],
  lookup: Lookup,
  isCleared: (field: string) => boolean = () => false,
): FilledForm | FieldProblem {
  const filler = new FormFiller(lookup, isCleared);
  const data = filler.fill(fields, []);
  return filler.problem ?? { data, uploads: filler.uploads, fields: filler.fields, used: filler.used };
}

class FormFiller {
  readonly uploads: Upload[] = [];
  readonly fields: string[] = [];
  readonly used: string[] = [];
  /** Only the first problem is reported. */
  problem: FieldProblem | undefined;

  constructor(
    private readonly lookup: Lookup,
    private readonly isCleared: (field: string) => boolean,
  ) {}

  /** @param isUnseen whether the fields are in a section that the hub's UI collapses at first */
  fill(fields: readonly FormField[], path: readonly string[], isUnseen = false): Record<string, unknown> {
    const data: Record<string, unknown> = {};
    for (const field of fields) {
      const value =
        field.type === 'expandable' ? this.section(field, path) : this.value(field, path, isUnseen);
      if (value !== undefined) data[field.name] = value;
    }
    return data;
  }

  /** The value of a section. A required section is sent even if it is empty. */
  private section(field: FormField, path: readonly string[]): unknown {
    const data = this.fill(field.schema ?? [], [...path, field.name], field.expanded === false);
    return field.required || Object.keys(data).length > 0 ? data : undefined;
  }

  private value(field: FormField, path: readonly string[], isUnseen: boolean): unknown {
    if (field.type === 'constant') return field.value;
    const place = [...path, field.name];
    const name = place.join('.');
    this.fields.push(name);
    const answer = this.lookup(name);
    if (!answer) return this.suggested(field, name, isUnseen);
    this.used.push(answer.id);
    if (answer.value.type === 'file') {
      this.uploads.push({ path: place, file: answer.value });
      return '';
    }
    const coerced = coerce(field, answer.value);
    if ('value' in coerced) return coerced.value;
    this.problem ??= { field: name, text: `${answer.id} ${coerced.problem}` };
    return undefined;
  }

  private suggested(field: FormField, name: string, isUnseen: boolean): unknown {
    const { description, default: preset, required, visible, selector } = field;
    const suggestion = typeof description === 'object' ? description?.suggested_value : undefined;
    if (suggestion !== undefined && suggestion !== null && !this.isCleared(name)) return suggestion;
    if (selector && 'constant' in selector) return selector['constant']?.['value'];
    // A field with a condition may not be shown, so it is never filled in by default.
    const isOpen = required && preset === undefined && visible === undefined;
    // The hub's UI sends these values for fields that the user does not change or see.
    if (isOpen && schemaOf(field)['type'] === 'boolean') return false;
    const [first] = isOpen && isUnseen ? ((schemaOf(field)['enum'] ?? []) as readonly unknown[]) : [];
    if (first !== undefined) return first;
    if (isOpen) this.problem ??= { field: name, text: `the form needs the field ${name}` };
    return undefined;
  }
}
