import type { Answer, Value } from '../../client/entries/forms/answer';
import type { HubIntegrationSpec } from '../../kinds/integration';
import { MAX_OBJECT_VALUES, parseJson, unsafeIntegers } from '../../runtime/json';
import { type NamedSecretServices, readNamedSecret } from '../../runtime/named-secret';

/** The answers of one of `spec.steps`. */
export interface StepAnswers {
  readonly stepId: string;
  readonly menuOption?: string | undefined;
  readonly answers: readonly Answer[];
}

export interface SubentryAnswers {
  readonly type: string;
  readonly title: string;
  readonly answers: readonly Answer[];
}

/** All answers of a resource. */
export interface Answers {
  readonly configuration: readonly Answer[];
  readonly steps: readonly StepAnswers[];
  /** Undefined if the options are not managed. */
  readonly options: readonly Answer[] | undefined;
  /** Undefined if the subentries are not managed. */
  readonly subentries: readonly SubentryAnswers[] | undefined;
  /** Values of Secrets, which must be redacted in every visible text. */
  readonly secrets: readonly string[];
}

/** All answers, without their places. */
export const allAnswers = ({ configuration, steps, options = [], subentries = [] }: Answers) =>
  [configuration, options, ...[...steps, ...subentries].map(({ answers }) => answers)].flat();

/** A reference to a Secret or a key that does not exist. */
interface Missing {
  readonly reason: 'SecretNotFound' | 'KeyNotFound';
  readonly missing: string;
}

/** The answers, or a sentence that says why there are none. */
type Resolved = { readonly answers: Answers } | Missing | { readonly invalid: string };

type Given = NonNullable<HubIntegrationSpec['configuration']>;

/**
 * Reads the answers of a resource, with the values of the Secrets that they refer to.
 *
 * @throws SecretRefused
 */
export async function resolveAnswers(
  services: NamedSecretServices,
  namespace: string,
  spec: HubIntegrationSpec,
): Promise<Resolved> {
  const reader = new Reader(services, namespace, spec.hubRef.name);
  const { configuration, steps = [], options, subentries } = spec;
  const ofConfiguration = await reader.read('configuration', configuration);
  const ofSteps: StepAnswers[] = [];
  for (const [index, { stepId, menuOption, values }] of steps.entries())
    ofSteps.push({ stepId, menuOption, answers: await reader.read(`steps[${index}].${stepId}`, values) });
  const ofSubentries: SubentryAnswers[] = [];
  for (const { type, title, values } of subentries ?? [])
    ofSubentries.push({ type, title, answers: await reader.read(`subentries.${type}/${title}`, values) });
  const resolved = {
    configuration: ofConfiguration,
    steps: ofSteps,
    options: options && (await reader.read('options', options)),
    subentries: subentries && ofSubentries,
  };
  if (reader.invalid !== undefined) return { invalid: reader.invalid };
  if (reader.missing !== undefined) return reader.missing;
  return { answers: { ...resolved, secrets: reader.values } };
}

class Reader {
  readonly values: string[] = [];
  /** The first problem that was found is reported. */
  missing: Missing | undefined;
  invalid: string | undefined;

  constructor(
    private readonly services: NamedSecretServices,
    private readonly namespace: string,
    private readonly hub: string,
  ) {}

  async read(place: string, given: Given = {}): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const [field, source] of Object.entries(given)) {
      const id = `${place}.${field}`;
      const value = await this.value(id, source);
      const isSecret = source.secretKeyRef !== undefined || source.fileSecretKeyRef !== undefined;
      if (value) answers.push({ id, field, value, ...(isSecret && { isSecret }) });
    }
    return answers;
  }

  private async value(id: string, source: Given[string]): Promise<Value | undefined> {
    const { value, jsonValue, secretKeyRef, fileSecretKeyRef } = source;
    if (value !== undefined) return { type: 'text', text: value };
    if (jsonValue !== undefined) return this.json(id, jsonValue);
    if (secretKeyRef) {
      const bytes = await this.bytes(id, secretKeyRef);
      return bytes && { type: 'text', text: bytes.toString('utf8') };
    }
    if (fileSecretKeyRef) {
      const { key, fileName = key } = fileSecretKeyRef;
      const content = await this.bytes(id, fileSecretKeyRef);
      return content && { type: 'file', content, fileName };
    }
    this.invalid ??= `${id} is empty: set exactly one of value, jsonValue, secretKeyRef and fileSecretKeyRef.`;
    return undefined;
  }

  private json(id: string, text: string): Value | undefined {
    try {
      const value = parseJson(text, MAX_OBJECT_VALUES);
      const [unsafe] = unsafeIntegers(value, '');
      if (unsafe)
        this.invalid ??= `${id}.jsonValue has the integer ${unsafe.digits}, which is beyond 2^53 and would lose digits: quote it.`;
      return { type: 'json', value };
    } catch {
      this.invalid ??= `${id}.jsonValue is not valid JSON: correct it, or use value for plain text.`;
      return undefined;
    }
  }

  private async bytes(id: string, { name, key }: { name: string; key: string }): Promise<Buffer | undefined> {
    const { namespace, hub } = this;
    const secret = await readNamedSecret(this.services, { namespace, hub, name, field: id });
    const found = secret?.bytes.get(key);
    if (found) this.values.push(found.toString('utf8'));
    else
      this.missing ??= secret
        ? { reason: 'KeyNotFound', missing: `The Secret ${name} of ${id} has no key ${key}: add it.` }
        : { reason: 'SecretNotFound', missing: `The Secret ${name} of ${id} does not exist: create it.` };
    return found;
  }
}
