import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { kinds } from '../operator/kinds';
import { API_GROUP, API_VERSION, CATEGORY } from '../operator/kinds/group';
import { objectSchema } from '../operator/kinds/object-schema';
import { columnsOf } from '../operator/kinds/columns';
import type { Column, KindDefinition } from '../operator/kinds/kind';

/**
 * The CRDs of all kinds. They are plain `ApiObject`s, because the typed class of Kubernetes 1.28 drops newer
 * fields such as `selectableFields`. They have no namespace, since CRDs are cluster-scoped.
 */
export class CustomResourceDefinitions extends Construct {
  constructor(parent: Construct) {
    super(parent, 'crds');
    for (const kind of kinds) new ApiObject(this, kind.plural, customResourceDefinition(kind));
  }
}

function customResourceDefinition(definition: KindDefinition) {
  const { kind, plural, singular, shortNames, selectableFields = [] } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${API_GROUP}` },
    spec: {
      group: API_GROUP,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
        categories: [CATEGORY],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: API_VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: objectSchema(definition) },
          subresources: { status: {} },
          additionalPrinterColumns: columnsOf(definition).map(printerColumn),
          ...(belongsToHub(definition) && {
            selectableFields: ['.spec.hubRef.name', ...selectableFields].map((jsonPath) => ({ jsonPath })),
          }),
        },
      ],
    },
  };
}

// kubectl always shows columns of priority 0, and others only with `-o wide`.
function printerColumn({ wide, ...column }: Column) {
  return wide ? { ...column, priority: 1 } : column;
}

function belongsToHub({ spec }: KindDefinition): boolean {
  return spec.properties !== undefined && 'hubRef' in spec.properties;
}
