import { version } from '../package.json';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';

/** The name of the operator's own objects. */
export const OPERATOR = 'hub-operator';
/** Where the operator runs, unless the settings name another namespace. */
export const NAMESPACE = 'hub-operator';

/** The labels of all objects of an installation. Selectors have only `OPERATOR_LABELS`: a version would change them. */
export const installationLabels: Readonly<Record<string, string>> = {
  ...OPERATOR_LABELS,
  'app.kubernetes.io/instance': OPERATOR,
  'app.kubernetes.io/version': version,
};
