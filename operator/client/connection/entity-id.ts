/** The domain of an entity: `light` of `light.kitchen`. */
export const domainOf = (entityId: string): string => entityId.slice(0, entityId.indexOf('.'));
