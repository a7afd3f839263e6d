import { type BoundedTasks, MachineBusy, runTwice } from '../base/bounded-task';
import { configuration, kindsByName } from '../kinds';
import { duplicateMessage } from '../kinds/duplicate-id';
import { API_GROUP, GROUP_VERSION } from '../kinds/group';
import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import { incompleteContent, parseObjects, unsafeIntegerMessage, unsafeIntegers } from '../runtime/json';
import { secretUsesTask } from '../sync/configuration/generate/texts';
import { filesWithSecrets, review, type SecretUses } from '../webhook/review';
import { fieldOf, type Path, pathIn } from './field-path';
import { type GivenConfigMap, type GivenSecret, GivenState } from './given-state';
import type { Manifest } from './manifests';
import { type EntryResource, entryTypeOf } from '../sync/registry/entry-types';
import { reportReconciliationProblems } from './reconciliation-rules';
import { checkSchema } from './schema';

/** A problem of an object in a manifest. */
export interface Finding {
  /** `error` if the API server, the webhook or the operator refuses the object. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly line: number;
  /** Kind, namespace and name, such as `HubAutomation home/porch`. */
  readonly object: string;
  /** Path of the field, such as `spec.entities[0].state`. Absent if the message names the field. */
  readonly field?: string;
  /** The finding, as a sentence. */
  readonly message: string;
}

/**
 * Whether the object belongs to the operator's API group, or has one of its kinds and no `apiVersion`, without which
 * the API server refuses it. Only such objects are checked.
 */
export const isOurs = ({ object }: Manifest): boolean => {
  const { apiVersion, kind } = object;
  if (lacksVersion(object))
    return kindsByName.has(String(kind)) && ('metadata' in object || 'spec' in object);
  return typeof apiVersion === 'string' && apiVersion.startsWith(`${API_GROUP}/`);
};

const lacksVersion = ({ apiVersion }: Manifest['object']): boolean => (apiVersion ?? '') === '';

/**
 * Checks the objects of the operator's kinds among the manifests, in order, with those rules of the API
 * server, the webhook and the reconcile that need neither a cluster nor a hub.
 *
 * @param texts reads the configuration texts in the objects
 */
export async function findingsOf(manifests: readonly Manifest[], texts: BoundedTasks): Promise<Finding[]> {
  const findings: Finding[] = [];
  const typed: {
    readonly definition: KindDefinition;
    readonly resource: CustomResource;
    readonly report: Report;
    readonly isValid: boolean;
  }[] = [];
  for (const manifest of manifests.filter(isOurs)) {
    const report = reporter(manifest, (finding) => findings.push(finding));
    const definition = definitionOf(manifest, report);
    if (!definition) continue;
    const { isTyped, isValid, object, problems } = checkSchema(definition, manifest.object);
    for (const { path, message } of problems) report('error', message, path);
    if (isTyped) typed.push({ definition, resource: asStored(object), report, isValid });
  }
  const given = manifests.filter(isSecret).map(({ object }) => object as GivenSecret);
  const state = new GivenState(
    typed.map(({ resource }) => resource),
    given,
    manifests.filter(isConfigMap).map(({ object }) => object as GivenConfigMap),
  );
  for (const { definition, resource, report, isValid } of typed)
    await applyRules(definition, resource, { state, report, isValid, texts });
  return inOrder(findings, manifests);
}

/** The findings in the order of the files, and of their lines. */
export function inOrder(findings: readonly Finding[], manifests: readonly Manifest[]): Finding[] {
  const order = new Map([...new Set(manifests.map(({ file }) => file))].map((file, index) => [file, index]));
  return findings.toSorted((a, b) => order.get(a.file)! - order.get(b.file)! || a.line - b.line);
}

/** The resource in a manifest. Undefined if it is of no kind of the operator, or violates the schema of its kind. */
export function validResource(manifest: Manifest): CustomResource | undefined {
  const definition = isOurs(manifest) ? kindsByName.get(String(manifest.object['kind'])) : undefined;
  if (!definition || manifest.object['apiVersion'] !== GROUP_VERSION) return undefined;
  const { isValid, object } = checkSchema(definition, manifest.object);
  return isValid ? asStored(object) : undefined;
}

const isSecret = ({ object: { apiVersion, kind } }: Manifest): boolean =>
  apiVersion === 'v1' && kind === 'Secret';

export const isConfigMap = ({ object: { apiVersion, kind } }: Manifest): boolean =>
  apiVersion === 'v1' && kind === 'ConfigMap';

type Report = (severity: Finding['severity'], message: string, path?: Path) => void;

function reporter({ file, lineOf, object }: Manifest, add: (finding: Finding) => void): Report {
  return (severity, message, path = []) =>
    add({
      severity,
      file,
      line: lineOf(path.length > 0 ? path : pathIn(message)),
      object: nameOf(object),
      ...(path.length > 0 && { field: fieldOf(path) }),
      message,
    });
}

function definitionOf({ object }: Manifest, report: Report): KindDefinition | undefined {
  const { apiVersion, kind } = object;
  const definition = kindsByName.get(String(kind));
  if (!definition)
    report('error', `${API_GROUP} has no kind ${kind}: use one of ${[...kindsByName.keys()].join(', ')}.`, [
      'kind',
    ]);
  else if (lacksVersion(object))
    report('error', `A ${kind} needs apiVersion: write apiVersion: ${GROUP_VERSION}.`);
  else if (apiVersion !== GROUP_VERSION)
    report('error', `${apiVersion} is not served: use ${GROUP_VERSION}.`, ['apiVersion']);
  else return definition;
  return undefined;
}

/** Adds the metadata that every stored object has. */
function asStored(object: Readonly<Record<string, unknown>>): CustomResource {
  const { metadata, spec } = object as Pick<CustomResource, 'metadata' | 'spec'>;
  const { deletionTimestamp: _, ...rest } = metadata; // set in an export of an object that is being deleted
  return {
    ...object,
    metadata: { ...rest, namespace: metadata.namespace ?? '', uid: '', generation: 1 },
    spec,
  } as CustomResource;
}

/**
 * Checks the object without its `status`, which the API server drops.
 *
 * @param isValid false if a rule of the schema is violated: the rules of the reconcile are then skipped,
 * since they would report the same problem in other words
 */
async function applyRules(
  definition: KindDefinition,
  resource: CustomResource,
  {
    state,
    report,
    isValid,
    texts,
  }: {
    readonly state: GivenState;
    readonly report: Report;
    readonly isValid: boolean;
    readonly texts: BoundedTasks;
  },
): Promise<void> {
  const { kind } = resource;
  if (state.has(resource))
    report(
      'warning',
      `A ${kind} of the same namespace and name is defined above, and this one replaces it: remove one.`,
    );
  try {
    const files = kind === configuration.kind ? filesWithSecrets(resource) : {};
    const uses = await runTwice(texts, secretUsesTask, files, '');
    webhookProblems(definition, resource, state, report, () =>
      uses.type === 'done' ? uses.output : undefined,
    );
    if (isValid) {
      for (const message of state.refusedSecrets(definition, resource)) report('error', message);
      await reportReconciliationProblems(resource, report, texts, state);
    }
  } catch (error) {
    if (error instanceof MachineBusy) throw error;
    // The other objects are checked nevertheless. The message of the error is not shown, since it may quote a
    // value of the object.
    const { name } = error as Error;
    report('error', `This ${kind} cannot be checked (${name}), a fault of hub-operator: report it.`);
  }
  state.add(definition, resource);
}

function webhookProblems(
  definition: KindDefinition,
  resource: CustomResource,
  state: GivenState,
  report: Report,
  usesIn: SecretUses,
): void {
  const request = {
    uid: '',
    kind: { group: API_GROUP, kind: resource.kind },
    operation: 'CREATE' as const,
    object: resource,
    oldObject: null,
  };
  const { refusal, warnings } = review(request, state, usesIn);
  if (refusal) report('error', refusal.message, refusal.field.split('.'));
  // The reconcile rejects some objects that the webhook only warns about.
  const large = parseObjects(Buffer.from(JSON.stringify(resource)), 1) as CustomResource;
  const tooLarge = large.omitted && incompleteContent(large);
  if (tooLarge) report('error', tooLarge);
  const unsafe = unsafeIntegers(resource.spec, 'spec').map(unsafeIntegerMessage);
  for (const message of unsafe) report('error', message);
  const rejected = [...unsafe, entryTypeOf(resource)?.validate?.(resource as EntryResource)];
  for (const warning of warnings) if (!rejected.includes(warning)) report('warning', warning);
  const [other] = refusal ? [] : state.othersWithIdentity(definition, resource);
  if (other) report('error', duplicateMessage(definition, resource, other.metadata.name));
}

export function nameOf({ kind, metadata }: Readonly<Record<string, unknown>>): string {
  const { name = '(without a name)', namespace } = (metadata ?? {}) as Partial<CustomResource['metadata']>;
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}
