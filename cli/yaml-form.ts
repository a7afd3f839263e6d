/** The package has a module of ours around it: the command line is split at modules of ours alone (operator/bundle.mjs). */
export { stringify } from 'yaml';
