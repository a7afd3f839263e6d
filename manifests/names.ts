/** Where the operator runs, and what its own objects are called. */
export const NAMESPACE = 'hub-operator';
export const OPERATOR = 'hub-operator';
