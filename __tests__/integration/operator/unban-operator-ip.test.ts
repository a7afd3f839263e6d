import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UNBAN_OPERATOR_IP } from '../../../operator/sync/hub-pod/scripts';
import { runPython } from '../../cluster/python-script';

// Tests the init container's script alone, by the resulting ip_bans.yaml of a hub.

let directory: string;
let files: { bans: string; address: string; verdict: string };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'unban-'));
  const file = (name: string) => join(directory, name);
  files = { bans: file('ip_bans.yaml'), address: file('ip'), verdict: file('verdict') };
});
afterEach(() => rm(directory, { recursive: true }));

const unban = () => runPython(UNBAN_OPERATOR_IP, files.bans, files.address, files.verdict);
/** A ban in the hub's format. */
const ban = (address: string, eol = '\n') =>
  `${eol}${address}:${eol}  banned_at: '2026-11-21T01:02:03+00:00'${eol}`;

const others = `# mine\n${ban('10.0.0.7')}${ban('2001:db8::7')}`;

describe('unban-operator-ip', () => {
  test.each([
    ['the only one', '10.0.0.5', ban('10.0.0.5'), '\n'],
    ['the first', '10.0.0.5', ban('10.0.0.5') + others, `\n${others}`],
    ['the last', '10.0.0.5', others + ban('10.0.0.5'), `${others}\n`],
    [
      'one in the middle',
      '10.0.0.5',
      ban('10.0.0.6') + ban('10.0.0.5') + others,
      `${ban('10.0.0.6')}\n${others}`,
    ],
    [
      'a comment stays',
      '10.0.0.5',
      `${ban('10.0.0.5')}# after\n${ban('10.0.0.6')}`,
      `\n# after\n${ban('10.0.0.6')}`,
    ],
    ['IPv6, however it is written', '2001:DB8:0::5', ban('2001:db8::5') + others, `\n${others}`],
    ['IPv6 that ends in colons', '2001:db8::', ban('2001:db8::') + others, `\n${others}`],
    ['in quotes', '::1', ban("'::1'") + others, `\n${others}`],
    ['twice', '10.0.0.5', ban('10.0.0.5') + ban('10.0.0.6') + ban('10.0.0.5'), `\n${ban('10.0.0.6')}\n`],
    [
      'lines that end as on Windows',
      '10.0.0.5',
      ban('10.0.0.5', '\r\n') + ban('10.0.0.6', '\r\n'),
      `\r\n${ban('10.0.0.6', '\r\n')}`,
    ],
    ['not one that begins alike', '10.0.0.5', ban('10.0.0.50') + ban('10.0.0.5'), `${ban('10.0.0.50')}\n`],
  ])('removes the address: %s', async (_, address, before, after) => {
    await writeFile(files.bans, before);
    await writeFile(files.address, `${address}\n`);
    expect(await unban()).toMatchObject({ code: 0 });
    expect(await readFile(files.bans, 'utf8')).toBe(after);
  });

  test('bans of other addresses stay unchanged', async () => {
    await writeFile(files.bans, others);
    await writeFile(files.address, '10.0.0.5');
    expect(await unban()).toMatchObject({ code: 0 });
    expect(await readFile(files.bans, 'utf8')).toBe(others);
  });

  test('without bans, or without an address, there is nothing to do', async () => {
    await writeFile(files.address, '10.0.0.5');
    expect(await unban()).toMatchObject({ code: 0 });
    expect(existsSync(files.bans)).toBe(false);

    await rm(files.address);
    await writeFile(files.bans, others);
    expect(await unban()).toMatchObject({ code: 0 });
    expect(await readFile(files.bans, 'utf8')).toBe(others);
  });

  test('bytes that are not UTF-8 stay, and the address is removed nevertheless', async () => {
    const odd = Buffer.concat([Buffer.from('# caf'), Buffer.from([0xe9, 0x0a])]);
    await writeFile(files.bans, Buffer.concat([odd, Buffer.from(ban('10.0.0.5') + ban('10.0.0.6'))]));
    await writeFile(files.address, '10.0.0.5');
    expect(await unban()).toMatchObject({ code: 0 });
    expect(await readFile(files.bans)).toEqual(Buffer.concat([odd, Buffer.from(`\n${ban('10.0.0.6')}`)]));
  });

  test('an invalid address prevents no hub from starting', async () => {
    await writeFile(files.bans, ban('10.0.0.5'));
    await writeFile(files.address, 'nowhere');
    expect(await unban()).toMatchObject({ code: 0 });
    expect(await readFile(files.bans, 'utf8')).toBe(ban('10.0.0.5'));
  });
});
