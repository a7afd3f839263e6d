/**
 * Wraps the package `yaml` in a module of this repository, because the bundle of the commands can be split
 * only at such modules (operator/bundle.mjs).
 */
export { stringify } from 'yaml';
