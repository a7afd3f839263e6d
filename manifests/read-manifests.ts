import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/**
 * Reads the objects in a YAML file as YAML 1.1, without empty documents. The reader of cdk8s would start a
 * process for each file.
 * @throws an error of the file system, or the first syntax error
 */
export function readManifests(path: string): unknown[] {
  const documents = [...parseAllDocuments(readFileSync(path, 'utf8'), { version: '1.1' })];
  for (const { errors } of documents) if (errors[0]) throw errors[0];
  return documents.map((document) => document.toJSON() as unknown).filter((object) => object !== null);
}
