/** The domain of an entity id, such as `light` in `light.kitchen`. */
export const domainOf = (entityId: string): string => entityId.slice(0, entityId.indexOf('.'));
