import { version } from '../package.json';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';

/** The name of the operator's own objects. */
export const OPERATOR = 'hub-operator';
/** The namespace in which the operator runs, unless the settings name another one. */
export const NAMESPACE = 'hub-operator';

/**
 * The labels of all objects of an installation. Selectors use only `OPERATOR_LABELS`, since these labels
 * contain the version.
 */
export const installationLabels: Readonly<Record<string, string>> = {
  ...OPERATOR_LABELS,
  'app.kubernetes.io/instance': OPERATOR,
  'app.kubernetes.io/version': version,
};
