import type { Node } from 'yaml';
import type { ConfigFile, Place } from './config-files';

/**
 * A map with places as keys. Files with the same text share their nodes, but these may include different
 * files, so the file is part of the key.
 */
export class PlaceMap<Value> {
  private readonly byFile = new Map<ConfigFile, Map<Node | null, Value>>();

  get({ node, file }: Place): Value | undefined {
    return this.byFile.get(file)?.get(node);
  }

  set({ node, file }: Place, value: Value): void {
    const known = this.byFile.get(file) ?? new Map<Node | null, Value>();
    this.byFile.set(file, known.set(node, value));
  }

  delete({ node, file }: Place): void {
    this.byFile.get(file)?.delete(node);
  }
}
