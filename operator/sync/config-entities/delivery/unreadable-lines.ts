import { CONFIG_ENTITY_KINDS, type ConfigEntityKind } from '../../../client/connection/config-entity';
import { deliveredDirectory, deliveredFile } from '../../hub-pod/delivery';

/** A line of a delivered file that the hub's YAML loader has named in an error. */
export interface UnreadableLine {
  readonly kind: ConfigEntityKind;
  /** Index of the ConfigMap. */
  readonly index: number;
  /** The line without the comma at its end. Undefined if the file has no such line. */
  readonly text: string | undefined;
}

/**
 * The lines at which the hub's YAML loader has failed, from its error: `in
 * "…/automations/0/automations.yaml", line 3, column 9`, or `position 50` for a character that it rejects.
 *
 * @param fileOf returns the text of a delivered file, undefined if there is none
 */
export function unreadableLines(
  words: string,
  fileOf: (kind: ConfigEntityKind, index: number) => string | undefined,
): readonly UnreadableLine[] {
  return CONFIG_ENTITY_KINDS.flatMap((kind) => {
    const path = `/${deliveredDirectory(kind)}/(\\d+)/${deliveredFile(kind)}`;
    const places = words.matchAll(new RegExp(`${path}", (line|position) (\\d+)`, 'g'));
    return [...places].map(([, number, unit, at]) => {
      const index = Number(number);
      const file = fileOf(kind, index) ?? '';
      const before = unit === 'line' ? Number(at) - 1 : lineAt(file, Number(at));
      return { kind, index, text: file.split('\n')[before]?.replace(/,$/, '') };
    });
  });
}

/**
 * Number of the line, from 0, that has a character. Positions are code points, since the loader counts a
 * character beyond 16 bits as one.
 */
const lineAt = (file: string, position: number): number =>
  [...file].slice(0, position).filter((each) => each === '\n').length;
