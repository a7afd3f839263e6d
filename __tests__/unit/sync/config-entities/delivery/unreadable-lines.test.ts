import { unreadableLines } from '../../../../../operator/sync/config-entities/delivery/unreadable-lines';

const FILE = '[\n{"alias": "🛋", "id": "a"},\n{"alias": "\u007f", "id": "b"}\n]\n';
const fileOf = (kind: string, index: number) => (kind === 'automation' && index === 1 ? FILE : undefined);
const path = '/hub-operator/delivery/automations/1/automations.yaml';
const [a, b] = ['{"alias": "🛋", "id": "a"}', '{"alias": "\u007f", "id": "b"}'];

// Messages of the hub's loader.
test.each<[string, readonly (string | undefined)[]]>([
  [
    `while parsing a flow mapping\n  in "${path}", line 2, column 1\nexpected ',' or '}', but got ':'\n  in "${path}", line 3, column 12`,
    [a, b],
  ],
  [
    `unacceptable character #x007f: special characters are not allowed\n  in "${path}", position ${[...FILE].indexOf('\u007f')}`,
    [b],
  ],
  [`while parsing\n in "${path}", line 9, column 1`, [undefined]],
  ['in "/config/automations.yaml", line 2, column 1', []],
  ['in "/hub-operator/delivery/scenes/1/automations.yaml", line 2, column 1', []],
  ['unknown', []],
])('the lines that the hub names: %j', (words, texts) => {
  const lines = unreadableLines(words, fileOf);
  expect(lines.map(({ text }) => text)).toEqual(texts);
  for (const { kind, index } of lines) expect([kind, index]).toEqual(['automation', 1]);
});
