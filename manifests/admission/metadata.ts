import { kinds } from '../../operator/kinds';
import { finalizerOf, operatorAnnotations } from '../../operator/kinds/annotations';
import { API_GROUP } from '../../operator/kinds/group';
import { API_TOKEN_LABELS } from '../../operator/kinds/object-names';
import { listOf, type Validation } from './validation';

export const RAN_VERSION = operatorAnnotations.ranVersion;

/** Finalizers that the API server may set on a new object. */
const FINALIZERS_OF_SERVER = ['kubernetes.io/pvc-protection'];

const foreignFinalizers = (object: string): string =>
  `${object}.metadata.?finalizers.orValue([]).filter(finalizer, !(finalizer in ${listOf(kinds.map(({ kind }) => finalizerOf(kind)))}))`;

const [[COMPONENT, TOKEN]] = Object.entries(API_TOKEN_LABELS) as [[string, string]];
const isTokenSecret = `variables.before.metadata.?labels[?'${COMPONENT}'].orValue('') == '${TOKEN}'`;

/**
 * CEL for the names of labels or annotations that an update changes or removes although they are not the
 * operator's.
 */
function foreignChanges(field: 'labels' | 'annotations'): string {
  const of = (object: string) => `variables.${object}.metadata[?'${field}']`;
  const isForeign = `!name.startsWith('${API_GROUP}/') && name != 'app.kubernetes.io/managed-by'`;
  return `
${of('after')}.orValue({}).filter(name, ${isForeign} && ${of('before')}[?name] != ${of('after')}[?name])
+ ${of('before')}.orValue({}).filter(name, !name.startsWith('${API_GROUP}/') && !(name in ${of('after')}.orValue({})))`.trim();
}

/** The API server evaluates each variable only where a validation reads it. */
export const metadataVariables = {
  isUpdate: `request.operation == 'UPDATE'`,
  // Objects that the operator does not create and may not delete.
  isGiven: `variables.kind in ['ours', 'validatingwebhookconfigurations']`,
  // Objects that outlive their Hub are recognized by their name, since the same request could change any
  // other field. The user chooses the name of the Secret with the API token, so its label is read instead. A
  // login cannot get that label, because labels of objects that outlive their Hub cannot be changed.
  outlives: `
variables.kind == 'persistentvolumeclaims'
|| (variables.kind == 'configmaps' && request.name.matches('.-delivery-[0-9]+(-[0-9a-f]{8})?$'))
|| (variables.kind == 'secrets' && request.name.endsWith('-admin') && (request.operation == 'CREATE'
  || !(${isTokenSecret})))`,
  foreignChanges: `${foreignChanges('labels')}\n+ ${foreignChanges('annotations')}`,
  owners: `variables.after.metadata.?ownerReferences.orValue([])`,
  formerOwners: `variables.isUpdate ? variables.before.metadata.?ownerReferences.orValue([]) : []`,
} as const;

/**
 * Metadata can have the effect of verbs that the operator's role lacks: the garbage collector deletes an
 * object whose owner does not exist, and other controllers act on labels and annotations.
 */
export const metadataValidations: readonly Validation[] = [
  {
    expression: `
!variables.isGiven || !variables.isUpdate
|| (['labels', 'annotations', 'ownerReferences'].all(field,
    variables.after.metadata[?field] == variables.before.metadata[?field])
  && ${foreignFinalizers('variables.after')} == ${foreignFinalizers('variables.before')})`,
    message: 'changes no metadata of its resources but its own finalizers',
  },
  {
    expression: `
request.operation == 'DELETE' || variables.isGiven
|| variables.owners.all(owner, owner in variables.formerOwners
  || (owner.apiVersion.startsWith('${API_GROUP}/') && !(variables.isUpdate && variables.outlives)))`,
    message:
      'gives an object only owners that are its resources, and a claim, a login or delivered definitions none that they have not had since their creation',
  },
  {
    expression: `
request.operation == 'DELETE' || variables.isGiven
|| (variables.isUpdate
  ? variables.after.metadata.?finalizers == variables.before.metadata.?finalizers
  : variables.after.metadata.?finalizers.orValue([]).all(finalizer, finalizer in ${listOf(FINALIZERS_OF_SERVER)}))`,
    message: 'changes no finalizers but its own on its resources',
  },
  {
    expression: `
!variables.isUpdate || !variables.outlives || variables.foreignChanges.size() == 0`,
    message:
      'changes only its own labels and annotations of claims, logins and delivered definitions, since other controllers delete by theirs',
    found: 'variables.foreignChanges',
  },
];
