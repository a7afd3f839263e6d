import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/**
 * The objects in a YAML file, as YAML 1.1, empty documents left out. The reader of cdk8s starts a process for each file.
 *
 * @throws an error of the file system, or that of the first syntax error
 */
export function readManifests(path: string): unknown[] {
  const documents = [...parseAllDocuments(readFileSync(path, 'utf8'), { version: '1.1' })];
  for (const { errors } of documents) if (errors[0]) throw errors[0];
  return documents.map((document) => document.toJSON() as unknown).filter((object) => object !== null);
}
