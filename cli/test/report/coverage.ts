import { fieldOf, type Path } from '../../../operator/offline/field-path';
import type { Manifest } from '../../../operator/offline/manifests';
import type { CoverageItem } from '../protocol';

/** The coverage of an automation or script. */
export interface Covered {
  readonly entity: string;
  readonly hit: number;
  readonly total: number;
  /** The paths that were never executed, each with its place in the file. */
  readonly never: readonly { readonly what: string; readonly place: string }[];
}

export interface CoverageResult {
  readonly items: readonly Covered[];
  readonly hit: number;
  readonly total: number;
  /** Percent, rounded down; 100 if there are no paths. */
  readonly percent: number;
}

export function coverageOf(
  items: readonly CoverageItem[],
  definitions: ReadonlyMap<string, Manifest>,
): CoverageResult {
  const covered = items.map((item) => coveredItem(item, definitions));
  const sum = (key: 'hit' | 'total') => covered.reduce((all, each) => all + each[key], 0);
  const [hit, total] = [sum('hit'), sum('total')];
  return { items: covered, hit, total, percent: percentOf(hit, total) };
}

export const percentOf = (hit: number, total: number): number =>
  total === 0 ? 100 : Math.floor((100 * hit) / total);

function coveredItem(
  { entity, id, total, hit }: CoverageItem,
  definitions: ReadonlyMap<string, Manifest>,
): Covered {
  const domain = entity.split('.')[0]!;
  const definition = definitions.get(`${domain}.${id}`);
  const missing = total.filter((path) => !hit.includes(path));
  return {
    entity,
    hit: total.length - missing.length,
    total: total.length,
    never: missing.map((path) => {
      const { field, what } = inWords(path);
      return { what, place: definition ? placeOf(definition, field) : '' };
    }),
  };
}

function placeOf({ file, lineOf }: Manifest, field: Path): string {
  return `${file}:${lineOf(['spec', ...field])}`;
}

/** The fields of the resource by the section of a trace path. */
const SECTIONS: Readonly<Record<string, string>> = {
  trigger: 'triggers',
  condition: 'conditions',
  action: 'actions',
};

/**
 * Converts the path `action/2/choose/0/sequence/1` to the field `actions[2].choose[0].sequence[1]`, and
 * describes the missing execution.
 */
function inWords(path: string): { readonly field: Path; readonly what: string } {
  const [place = '', outcome] = path.split('=');
  const steps = place.split('/');
  const named = steps.map((step, index) => (index === 0 ? (SECTIONS[step] ?? step) : step));
  // Trace paths contain `if/condition/0` for the items of `if`.
  const field = named
    .filter((step, index) => !(step === 'condition' && named[index - 1] === 'if'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const missing = steps[0] === 'trigger' ? 'never fired' : 'never ran';
  const verb = outcome === undefined ? missing : `was never ${outcome}`;
  return { field, what: `${fieldOf(field)} ${verb}` };
}
