/**
 * Names of the labels that the operator gives to its objects. They mark these objects for users of the hub,
 * and for a resource that was restored without status.
 */
export const ownLabels = { managed: 'Managed by Hub Operator', adopted: 'Adopted by Hub Operator' } as const;
