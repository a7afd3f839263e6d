/** Names of the labels of the operator's own objects. They tell the household, and a resource that was restored without status. */
export const ownLabels = { managed: 'Managed by Hub Operator', adopted: 'Adopted by Hub Operator' } as const;
