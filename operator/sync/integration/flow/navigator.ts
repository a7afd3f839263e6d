import type { ConfigEntry, FlowStep, FormStep, MenuStep } from '../../../client/flow-step';
import type { Answer, StepAnswers } from '../answers';
import { fillForm, type FilledForm, type Upload } from './form-answers';

/** What a flow is answered with. */
export interface FlowAnswers {
  /** Answers step by step, and the choices in menus. */
  readonly steps: readonly StepAnswers[];
  /** Answers by field, for all steps. */
  readonly fields: readonly Answer[];
  /**
   * The steps are those of another flow of the same integration: their answers are used by field, and a step that is
   * not among them is no mistake.
   */
  readonly lenient?: boolean;
  /** Fields that are left empty, since their answer was removed. */
  readonly cleared?: ReadonlySet<string>;
}

/** Why a flow cannot go on. */
export interface FlowProblem {
  /** A step of the hub, or the reason of an abort. */
  readonly kind: 'error' | 'abort' | 'answers';
  readonly step?: string | undefined;
  readonly field?: string | undefined;
  /** The hub's key of the error or of the abort. */
  readonly key?: string | undefined;
  /** Without a key: a clause that says what is wrong, with the way out. */
  readonly text?: string | undefined;
  readonly placeholders?: Readonly<Record<string, string>> | null | undefined;
  /** The integration that has the text of the key, if it is another one. */
  readonly textOf?: string | undefined;
}

/** What to do about a step. */
export type Move =
  | { readonly type: 'submit'; readonly data: object; readonly uploads: readonly Upload[] }
  /** The hub works on it: poll it. */
  | { readonly type: 'wait' }
  /** Look at once. */
  | { readonly type: 'read' }
  | { readonly type: 'created'; readonly entry?: ConfigEntry | undefined }
  | { readonly type: 'aborted'; readonly problem: FlowProblem }
  | { readonly type: 'failed'; readonly problem: FlowProblem };

/** A flow that shows more steps goes in circles. */
const MAX_STEPS = 40;
/** A step that is not in `spec.steps` and comes back this often without an error goes in circles. */
const MAX_VISITS = 3;

/**
 * Decides how a flow goes on from one step to the next. It only looks at the steps: it sends nothing.
 */
export class FlowNavigator {
  /** Ids of answers and menu choices that were used. */
  readonly used = new Set<string>();
  /** Fields that a form had: `field` or `section.field`. */
  readonly seen = new Set<string>();
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
        return { type: 'aborted', problem: { kind: 'abort', key, placeholders, textOf } };
      }
      case 'progress':
        this.steps--; // it may take minutes
        return { type: 'wait' };
      case 'progress_done':
      case 'external_done':
        return { type: 'read' };
      case 'external':
        return failed({
          step: step.step_id,
          text:
            'this step needs a browser, as for a login at another site: set the integration up in the hub’s UI, ' +
            'and it is adopted by its title (spec.title)',
        });
      case 'menu':
        return this.menu(step);
      case 'form':
        return this.form(step);
    }
  }

  /** Answers that no step has asked for. */
  get unused(): readonly Answer[] {
    const { fields, steps } = this.answers;
    return [...fields, ...steps.flatMap(({ answers }) => answers)].filter(({ id }) => !this.used.has(id));
  }

  private menu(step: MenuStep): Move {
    const { menu_options: options, step_id: stepId } = step;
    const names: readonly string[] = Array.isArray(options) ? options : Object.keys(options);
    const visit = this.visit(stepId);
    const chosen = this.stepAnswers(stepId, visit)?.menuOption ?? this.choiceByField(stepId);
    const option = chosen ?? (names.length === 1 ? names[0] : undefined);
    if (option === undefined)
      return failed({
        step: stepId,
        text: `the step is a menu: add {stepId: ${stepId}, menuOption: …} to spec.steps, with one of ${names.join(', ')}`,
      });
    if (!names.includes(option))
      return failed({
        step: stepId,
        text: `the menu has no option ${option}: choose one of ${names.join(', ')}`,
      });
    // A menu that leads back to itself.
    if (visit > MAX_VISITS)
      return failed({ step: stepId, text: `the menu comes back after the option ${option}` });
    return { type: 'submit', data: { next_step_id: option }, uploads: [] };
  }

  /** Options and subentries have no steps: there, a field named after the menu chooses. */
  private choiceByField(stepId: string): string | undefined {
    const answer = this.answers.fields.find(({ field }) => field === stepId);
    if (answer?.value.type !== 'text') return undefined;
    this.used.add(answer.id);
    return answer.value.text;
  }

  private form(step: FormStep): Move {
    const { step_id: stepId, errors, description_placeholders: placeholders, last_step: isLast } = step;
    const [error] = Object.entries(errors ?? {});
    if (error) {
      const [field, key] = error;
      return failed({
        kind: 'error',
        step: stepId,
        field: field === 'base' ? undefined : field,
        key,
        placeholders,
      });
    }
    const visit = this.visit(stepId);
    if (visit > Math.max(this.entriesOf(stepId).length, MAX_VISITS))
      return failed({ step: stepId, text: 'the form comes back without an error' });
    // A schema that is no mapping is shown as an object.
    const fields = Array.isArray(step.data_schema) ? step.data_schema : [];
    const { cleared } = this.answers;
    const filled = fillForm(fields, this.lookupAt(stepId, visit), (field) => cleared?.has(field) ?? false);
    if ('text' in filled)
      return failed({ step: stepId, field: filled.field, text: this.withHint(stepId, filled.text) });
    this.recordUse(filled);
    const [unused] = isLast && !this.answers.lenient ? this.unused : [];
    if (unused)
      return failed({
        step: stepId,
        field: unused.field,
        text: `no form asks for ${unused.id}: remove it or correct its name. This form has ${listed(filled.fields)}`,
      });
    return { type: 'submit', data: filled.data, uploads: filled.uploads };
  }

  private recordUse({ used, fields }: FilledForm): void {
    for (const id of used) this.used.add(id);
    for (const field of fields) this.seen.add(field);
  }

  private withHint(stepId: string, text: string): string {
    if (this.entriesOf(stepId).length > 0 || this.answers.lenient)
      return `${text}: add it to the values of the step`;
    return `${text}: add it to spec.configuration`;
  }

  /** An answer of the step wins over one of `configuration`. */
  private lookupAt(stepId: string, visit: number): (field: string) => Answer | undefined {
    const { fields, steps, lenient } = this.answers;
    const ofStep = this.stepAnswers(stepId, visit)?.answers ?? [];
    const others = lenient ? steps.flatMap(({ answers }) => answers) : [];
    return (field) => [...ofStep, ...fields, ...others].find((answer) => answer.field === field);
  }

  /** The entry of `spec.steps` for the n-th visit of a step; further visits get the last one. */
  private stepAnswers(stepId: string, visit: number): StepAnswers | undefined {
    const entries = this.entriesOf(stepId);
    const entry = entries[visit - 1] ?? entries.at(-1);
    if (entry?.menuOption !== undefined) this.used.add(menuId(this.answers.steps.indexOf(entry), stepId));
    return entry;
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

/** Identifies the choice in a menu, as `Answer.id` does an answer. */
export const menuId = (index: number, stepId: string): string => `steps[${index}].${stepId}`;

function failed(problem: Partial<FlowProblem>): Move {
  return { type: 'failed', problem: { kind: 'answers', ...problem } };
}

const listed = (fields: readonly string[]): string => (fields.length > 0 ? fields.join(', ') : 'no fields');
