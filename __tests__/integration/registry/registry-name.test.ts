import { registryName } from '../../../operator/kinds/ids';
import { runPython } from '../../cluster/python-script';

/**
 * Python that prints the hub's folded form of every character that it knows, as pairs of code point and
 * folded name.
 */
const FOLD_ALL = `
import json, unicodedata
from homeassistant.helpers.normalized_name_base_registry import normalize_name
known = lambda point: not 0xD800 <= point <= 0xDFFF and unicodedata.category(chr(point)) != "Cn"
print(json.dumps([[p, normalize_name(chr(p))] for p in range(0x110000) if known(p)]))
`;

describe('registryName', () => {
  test('two names are equal to it exactly if they are equal to the hub, for any characters', async () => {
    const { output } = await runPython(FOLD_ALL);
    const folded = JSON.parse(output) as [number, string][];
    const toHub = new Map<string, string>();
    const wrong: string[] = [];
    for (const [point, hubs] of folded) {
      const character = String.fromCodePoint(point);
      const ours = registryName(character);
      // The operator's folded form must be equal for all characters that fold to it in the hub, and for no
      // others.
      const isSame = registryName(hubs) === ours && (toHub.get(ours) ?? hubs) === hubs;
      if (!isSame) wrong.push(`U+${point.toString(16)} ${character}`);
      toHub.set(ours, hubs);
    }
    expect(folded.length).toBeGreaterThan(140_000);
    expect(wrong).toEqual([]);
  });
});
