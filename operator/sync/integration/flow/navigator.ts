import type {
  ConfigEntry,
  FlowStep,
  FormStep,
  MenuStep,
  Placeholders,
} from '../../../client/connection/flow-step';
import type { Answer } from '../../../client/entries/forms/answer';
import { fillForm, type Upload } from '../../../client/entries/forms/fill-form';
import type { StepAnswers } from '../answers';

/** The answers for a flow. */
export interface FlowAnswers {
  /** Answers step by step, and the choices in menus. */
  readonly steps: readonly StepAnswers[];
  /** Answers by field, for all steps. */
  readonly fields: readonly Answer[];
  /** Answers by field that take precedence over those of the step. */
  readonly first?: readonly Answer[];
  /**
   * Set if the flow is for an existing entry. Its steps differ from those that created the entry, so the
   * answers of `steps` are used by field.
   */
  readonly ofEntry?: {
    /**
     * Ids of the choices in menus that may be made. A choice with which the entry was created, such as
     * forming another network, is not repeated.
     */
    readonly choices: ReadonlySet<string>;
    /** Ids of answers. Nothing is sent until a form asks for one of them. If absent, all forms are sent. */
    readonly mustAskFor?: ReadonlySet<string> | undefined;
  };
  /** Fields that are left empty, since their answer was removed. */
  readonly cleared?: ReadonlySet<string>;
}

/** The reason why a flow cannot continue. */
export interface FlowProblem {
  /**
   * The type of the problem:
   *
   * - `error`: a form has an error.
   * - `abort`: the hub ended the flow.
   * - `answers`: the answers do not fit the flow.
   * - `unasked`: no form asks for an answer, and a user has to decide.
   * - `lost`: the hub's response to an answer did not arrive.
   * - `failed`: the hub failed at an answer, or its response has an unexpected format.
   * - `cut`: the hub stopped during the flow, each time.
   * - `unavailable`: the hub did not start the flow.
   */
  readonly kind: 'error' | 'abort' | 'answers' | 'unasked' | 'lost' | 'failed' | 'cut' | 'unavailable';
  readonly step?: string | undefined;
  readonly field?: string | undefined;
  /** The hub's key of the error or of the abort. */
  readonly key?: string | undefined;
  /** A clause with the fault and the remedy, for a problem without a key. */
  readonly text?: string | undefined;
  readonly placeholders?: Placeholders | undefined;
  /** The integration that has the text of the key, if it is another one. */
  readonly textOf?: string | undefined;
  /** True if values of Secrets were sent before. */
  readonly withSecret?: boolean | undefined;
}

/** Reports whether the hub may have carried out the last answer. */
export const isUnsure = ({ kind }: FlowProblem): boolean => ['lost', 'failed', 'cut'].includes(kind);

/** Reports whether the problem may be caused by a stop or start of the hub instead of the answers. */
export const mayBeOfRestart = (problem: FlowProblem): boolean =>
  isUnsure(problem) || problem.kind === 'unavailable';

/** A request that returns the next step. */
export type StepRequest =
  | { readonly type: 'submit'; readonly data: object; readonly uploads: readonly Upload[] }
  /** The hub works on the step: poll it. */
  | { readonly type: 'wait' }
  /** Read the step again without delay. */
  | { readonly type: 'read' };

/** The reaction to a step. */
type Move =
  | StepRequest
  | { readonly type: 'created'; readonly entry?: ConfigEntry | undefined }
  | { readonly type: 'aborted' | 'failed'; readonly problem: FlowProblem };

/** A flow with more steps than this goes in circles. */
const MAX_STEPS = 40;
/** A step that is not in `spec.steps` and returns more often than this without an error goes in circles. */
const MAX_VISITS = 3;

/** Instruction for a user whose integration cannot be set up by answers alone. */
const BY_HAND = 'set the integration up in the hub’s UI, and it is adopted by its title (spec.title)';

/** Decides how a flow continues from one step to the next. It sends nothing. */
export class FlowNavigator {
  /** Ids of answers and menu choices that were used. */
  readonly used = new Set<string>();
  /** Fields of the forms that were shown: `field` or `section.field`. */
  readonly seen = new Set<string>();
  /** True if values of Secrets were among the sent answers. */
  withSecret = false;
  private formHasSecret = false;
  private isAsked = false;
  private readonly visits = new Map<string, number>();
  private steps = 0;

  constructor(private readonly answers: FlowAnswers) {}

  next(step: FlowStep): Move {
    if (++this.steps > MAX_STEPS)
      return failed({ text: `the flow has shown ${MAX_STEPS} steps without an end` });
    switch (step.type) {
      case 'create_entry':
        return { type: 'created', entry: step.result };
      case 'abort': {
        const { reason: key, description_placeholders: placeholders, translation_domain: textOf } = step;
        const { withSecret } = this;
        return { type: 'aborted', problem: { kind: 'abort', key, placeholders, textOf, withSecret } };
      }
      case 'progress':
        this.steps--; // a task of the hub may take minutes of polling
        return { type: 'wait' };
      case 'progress_done':
      case 'external_done':
        return { type: 'read' };
      case 'external': {
        const text = `this step needs a browser, as for a login at another site: ${BY_HAND}`;
        return failed({ step: step.step_id, text });
      }
      case 'menu':
        return this.menu(step);
      case 'form':
        return this.form(step);
    }
  }

  /**
   * Answers that no form asked for. Answers of a step that was not shown are left out, since some steps are
   * shown only sometimes.
   */
  get unused(): readonly Answer[] {
    const { fields, steps } = this.answers;
    const shown = steps.filter((_, index) => this.isShown(index));
    return [...fields, ...shown.flatMap(({ answers }) => answers)].filter(({ id }) => !this.used.has(id));
  }

  /** Ids of the steps of the spec that were not shown: `steps[0].user`. */
  get unshown(): readonly string[] {
    return this.answers.steps.flatMap(({ stepId }, index) =>
      this.isShown(index) ? [] : placeOfStep(index, stepId),
    );
  }

  /**
   * Reports whether one of `spec.steps` was shown. Of several with the same id, the n-th counts as shown when
   * the step was shown n times.
   */
  private isShown(index: number): boolean {
    const { steps } = this.answers;
    const { stepId } = steps[index]!;
    const position = steps.slice(0, index + 1).filter((each) => each.stepId === stepId).length;
    return (this.visits.get(stepId) ?? 0) >= position;
  }

  private menu(step: MenuStep): Move {
    const { menu_options: options, step_id: stepId } = step;
    const names: readonly string[] = Array.isArray(options) ? options : Object.keys(options);
    const visit = this.visit(stepId);
    const chosen = this.choiceOfStep(stepId, visit) ?? this.choiceByField(stepId);
    if (!this.mayAnswer) return unasked(stepId);
    const option = chosen ?? (names.length === 1 ? names[0] : undefined);
    const listed = names.join(', ');
    const fault = (text: string) => failed({ step: stepId, text });
    if (option === undefined)
      return fault(
        this.answers.ofEntry
          ? `the step is a menu: add the field ${stepId} with one of ${listed}`
          : `the step is a menu: add {stepId: ${stepId}, menuOption: …} to spec.steps, with one of ${listed}`,
      );
    if (!names.includes(option)) return fault(`the menu has no option ${option}: choose one of ${listed}`);
    // The menu leads back to itself.
    if (visit > MAX_VISITS) return fault(`the menu comes back after the option ${option}`);
    return { type: 'submit', data: { next_step_id: option }, uploads: [] };
  }

  /**
   * The choice in a menu of options or a subentry. These have no steps, so a field with the name of the menu
   * has the choice.
   */
  private choiceByField(stepId: string): string | undefined {
    const { fields, first = [] } = this.answers;
    const answer = [...first, ...fields].find(({ field }) => field === stepId);
    if (answer?.value.type !== 'text') return undefined;
    this.recordUse([answer.id]);
    return answer.value.text;
  }

  private form(step: FormStep): Move {
    const { step_id: stepId, errors, description_placeholders: placeholders, last_step: isLast } = step;
    const [error] = Object.entries(errors ?? {});
    if (error) {
      const [name, key] = error;
      const field = name === 'base' ? undefined : name;
      const withSecret = this.formHasSecret;
      return failed({ kind: 'error', step: stepId, field, key, placeholders, withSecret });
    }
    const visit = this.visit(stepId);
    if (visit > Math.max(this.entriesOf(stepId).length, MAX_VISITS))
      return failed({ step: stepId, text: 'the form comes back without an error' });
    // A schema that is not a mapping is returned as an object, and has no fields.
    const fields = Array.isArray(step.data_schema) ? step.data_schema : [];
    const { cleared } = this.answers;
    if (fields.some(({ selector }) => selector && 'qr_code' in selector))
      return failed({ step: stepId, text: `this step shows a QR code to a person: ${BY_HAND}` });
    const lookup = this.lookupAt(stepId, visit);
    const filled = fillForm(fields, lookup, (field) => cleared?.has(field) ?? false);
    if ('text' in filled) {
      const isOfStep = this.entriesOf(stepId).length > 0 || this.answers.ofEntry !== undefined;
      const text = `${filled.text}: add it to ${isOfStep ? 'the values of the step' : 'spec.configuration'}`;
      return failed({ step: stepId, field: filled.field, text });
    }
    this.recordUse(filled.used);
    for (const field of filled.fields) this.seen.add(field);
    if (!this.mayAnswer || (fields.length === 0 && !this.mayConfirm(stepId))) return unasked(stepId);
    const used = [...this.all].filter(({ id }) => filled.used.includes(id));
    this.formHasSecret = used.some(({ isSecret }) => isSecret);
    this.withSecret ||= this.formHasSecret;
    const [unused] = isLast && !this.answers.ofEntry ? this.unused : [];
    if (unused) {
      const inForm = filled.fields.join(', ') || 'no fields';
      const text = `no form asks for ${unused.id}: remove it or correct its name. This form has ${inForm}`;
      return failed({ step: stepId, field: unused.field, text });
    }
    return { type: 'submit', data: filled.data, uploads: filled.uploads };
  }

  private get all(): readonly Answer[] {
    const { fields, first = [], steps } = this.answers;
    return [...first, ...fields, ...steps.flatMap(({ answers }) => answers)];
  }

  private recordUse(ids: readonly string[]): void {
    for (const id of ids) this.used.add(id);
    const expected = this.answers.ofEntry?.mustAskFor;
    this.isAsked ||= ids.some((id) => expected?.has(id));
  }

  private get mayAnswer(): boolean {
    return this.isAsked || this.answers.ofEntry?.mustAskFor === undefined;
  }

  /**
   * Reports whether a form without fields may be confirmed. It asks for a decision, which for an existing
   * entry may stop the device.
   */
  private mayConfirm(stepId: string): boolean {
    return !this.answers.ofEntry || this.used.size > 0 || this.entriesOf(stepId).length > 0;
  }

  /**
   * Finds answers for the fields of a step. An answer of the step takes precedence over one of
   * `configuration`.
   */
  private lookupAt(stepId: string, visit: number): (field: string) => Answer | undefined {
    const { fields, first = [], steps, ofEntry } = this.answers;
    const ofStep = this.stepAnswers(stepId, visit)?.answers ?? [];
    const others = ofEntry ? steps.flatMap(({ answers }) => answers) : [];
    return (field) => [...first, ...ofStep, ...fields, ...others].find((answer) => answer.field === field);
  }

  private choiceOfStep(stepId: string, visit: number): string | undefined {
    const entry = this.stepAnswers(stepId, visit);
    if (entry?.menuOption === undefined) return undefined;
    const id = placeOfStep(this.answers.steps.indexOf(entry), stepId);
    if (this.answers.ofEntry && !this.answers.ofEntry.choices.has(id)) return undefined;
    this.recordUse([id]);
    return entry.menuOption;
  }

  /** The entry of `spec.steps` for the n-th visit of a step. Further visits get the last one. */
  private stepAnswers(stepId: string, visit: number): StepAnswers | undefined {
    const entries = this.entriesOf(stepId);
    return entries[visit - 1] ?? entries.at(-1);
  }

  private entriesOf(stepId: string): readonly StepAnswers[] {
    return this.answers.steps.filter((each) => each.stepId === stepId);
  }

  private visit(stepId: string): number {
    const visit = (this.visits.get(stepId) ?? 0) + 1;
    this.visits.set(stepId, visit);
    return visit;
  }
}

/** Identifies one of `spec.steps` and its menu choice, as `Answer.id` identifies an answer. */
export const placeOfStep = (index: number, stepId: string): string => `steps[${index}].${stepId}`;

function unasked(step: string): Move {
  const text = `the step asks for a confirmation: answer it in the hub’s UI, or add {stepId: ${step}} to spec.steps`;
  return { type: 'failed', problem: { kind: 'unasked', step, text } };
}

function failed(problem: Partial<FlowProblem>): Move {
  return { type: 'failed', problem: { kind: 'answers', ...problem } };
}
