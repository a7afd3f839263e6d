import { CONFIG_ENTITY_KINDS, type ConfigEntityKind } from '../../../client/connection/config-entity';
import { deliveredDirectory, deliveredFile } from '../../hub-pod/delivery';

/** A line of a delivered file that the hub's YAML loader has named. */
export interface UnreadableLine {
  readonly kind: ConfigEntityKind;
  /** Number of the ConfigMap. */
  readonly index: number;
  /** Without the comma at its end; undefined: the file has no such line. */
  readonly text: string | undefined;
}

/**
 * The lines at which the hub's YAML loader has ended, in its words: `in "…/automations/0/automations.yaml", line 3, column 9`, or
 * `position 50` of a character that it refuses.
 *
 * @param fileOf the text of a delivered file; undefined: there is none
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

/** Number of the line, from 0, that has a character. The loader counts one beyond 16 bits as one. */
const lineAt = (file: string, position: number): number =>
  [...file].slice(0, position).filter((each) => each === '\n').length;
