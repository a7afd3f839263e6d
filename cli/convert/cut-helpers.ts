import { isCollection, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { BoundedTask } from '../../operator/base/bounded-task';
import { ConfigFiles, type Files } from '../../operator/sync/configuration/generate/config-files';
import { type HelperPlace, yamlHelpers } from './yaml-helpers';

interface Given {
  readonly files: Files;
  /** The helpers to take out, as `<domain>.<id>`. */
  readonly helpers: readonly string[];
}

/** The files without the helpers. */
interface Cut {
  /** The files that have changed. */
  readonly files: Files;
  /** Helpers that cannot be taken out of the text of their file, as `<domain>.<id>`. */
  readonly kept: readonly string[];
  /** Sentences about comments that have gone with their helpers. */
  readonly warnings: readonly string[];
}

/**
 * Takes helpers out of the texts of their files. All else stays byte for byte, also the key of a section, so that the
 * hub loads its integration.
 */
export const cutHelpersTask: BoundedTask<Given, Cut> = {
  name: 'cutHelpers',
  run({ files, helpers }) {
    const chosen = new Set(helpers);
    const places = yamlHelpers(new ConfigFiles(files)).filter((each) => chosen.has(helperKey(each)));
    const byFile = groupedBy(places, ({ file }) => file.name);
    const changed: Record<string, string> = {};
    const kept: string[] = [];
    const warnings: string[] = [];
    for (const [name, ofFile] of byFile) {
      const cut = withoutPlaces(files[name]!, ofFile);
      if (cut === undefined) kept.push(...ofFile.map(helperKey));
      else {
        changed[name] = cut.text;
        const lines = cut.comments.map((at) => ofFile[0]!.file.positionOf(at).line);
        warnings.push(
          ...lines.map(
            (line) =>
              `${name}, line ${line}: the comment is in a helper that has become a resource, which does not have it.`,
          ),
        );
      }
    }
    return { files: changed, kept, warnings };
  },
};

export const helperKey = ({ domain, id }: Pick<HelperPlace, 'domain' | 'id'>): string => `${domain}.${id}`;

function groupedBy<T, K>(items: readonly T[], groupOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(groupOf(item)) ?? [];
    group.push(item);
    groups.set(groupOf(item), group);
  }
  return groups;
}

type Range = readonly [start: number, end: number];

interface CutText {
  readonly text: string;
  /** Places of comments that are no longer in the text. */
  readonly comments: readonly number[];
}

/** @returns undefined if a helper shares its lines with something else */
function withoutPlaces(text: string, places: readonly HelperPlace[]): CutText | undefined {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  const body = text.slice(mark.length);
  const byMap = groupedBy(places, ({ map }) => map!);
  const ranges: Range[] = [];
  for (const [map, ofMap] of byMap) {
    const pairs = new Set<Pair>(ofMap.map(({ pair }) => pair!));
    const own = map.flow ? flowRanges(body, map, pairs) : blockRanges(body, pairs);
    if (!own) return undefined;
    ranges.push(...own);
  }
  ranges.sort(([a], [b]) => a - b);
  let at = 0;
  const parts = ranges.map(([start, end]) => {
    const part = body.slice(at, start);
    at = end;
    return part;
  });
  const rest = [...parts, body.slice(at)].join('');
  return { text: mark + rest, comments: ranges.flatMap((range) => commentsIn(body, range)) };
}

/** The lines of pairs. @returns undefined if one shares a line with something else */
function blockRanges(text: string, pairs: ReadonlySet<Pair>): readonly Range[] | undefined {
  const ranges: Range[] = [];
  for (const pair of pairs) {
    const start = (pair.key as Node).range![0];
    const first = text.lastIndexOf('\n', start - 1) + 1;
    const end = endOf(pair, text);
    const lineBreak = text.indexOf('\n', end);
    const last = lineBreak < 0 ? text.length : lineBreak + 1;
    const isAlone =
      /^[ \t]*$/.test(text.slice(first, start)) && /^:?[ \t]*(#[^\n]*)?\r?\n?$/.test(text.slice(end, last));
    if (!isAlone) return undefined;
    ranges.push([first, last]);
  }
  return ranges;
}

/**
 * The parts of a map in braces, with the commas between them.
 *
 * @returns undefined if the `?` before a key would be left alone
 */
function flowRanges(text: string, map: YAMLMap, pairs: ReadonlySet<Pair>): readonly Range[] | undefined {
  const items = map.items as readonly Pair[];
  const startOf = (pair: Pair) => (pair.key as Node).range![0];
  const lastKept = items.findLastIndex((each) => !pairs.has(each));
  if (lastKept < 0) {
    const start = startOf(items[0]!);
    const isMarked = /[\s{]\?\s+$/.test(text.slice(map.range![0], start));
    return isMarked ? undefined : [[start, map.range![1] - 1]];
  }
  const ranges = items.flatMap((each, index): Range[] =>
    index < lastKept && pairs.has(each) ? [[startOf(each), startOf(items[index + 1]!)]] : [],
  );
  const end = (pair: Pair) => (pair.value as Node | null)?.range?.[1] ?? (pair.key as Node).range![1];
  return lastKept === items.length - 1 ? ranges : [...ranges, [end(items[lastKept]!), end(items.at(-1)!)]];
}

/** The end of the content of a pair, without the comments after it. */
function endOf({ key, value }: Pair, text: string): number {
  const node = value as Node | null;
  const end = node ? endOfNode(node, text) : 0;
  return Math.max(end, (key as Node).range![1]);
}

function endOfNode(node: Node, text: string): number {
  if (isCollection(node) && !node.flow && node.items.length > 0) {
    const last = node.items.at(-1)!;
    if (isMap(node)) return endOf(last as Pair, text);
    if (isSeq(node) && last) return endOfNode(last as Node, text);
  }
  const [start, end] = node.range!;
  const isBlock = isScalar(node) && /^BLOCK_/.test(String(node.type));
  return isBlock ? start + text.slice(start, end).trimEnd().length : end;
}

/** The places of comments in a part of a text. A `#` in a text block counts as one. */
function commentsIn(text: string, [start, end]: Range): readonly number[] {
  const part = text
    .slice(start, end)
    .replace(/"(?:[^"\\]|\\[^])*"|'[^']*'/g, (quoted) => '"'.repeat(quoted.length));
  return [...part.matchAll(/(?<=\s)#/g)].map(({ index }) => start + index);
}
