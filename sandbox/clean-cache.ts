import { readdir, readFile, readlink, rm, rmdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { cacheRoot } from './cache';
import { formatError, SandboxError } from './sandbox-error';

// `make clean-cache`: removes the builds and downloads of the sandbox. The caches of Go and uv, which other
// programs of this user share, are only named.

/**
 * Names of the entries that the sandbox makes. Other names are left, because HUB_OPERATOR_CACHE may name any
 * folder.
 */
const OWN = /^([a-z]+(-[a-z]+)*-[0-9a-f]{12}(\.lock|\.partial-\w{6})?|trial-\d+|logs|test-durations\.json)$/;

/**
 * Removes the entries of the cache, and its folder if nothing else is in it.
 * @returns names of the entries that other programs have made, which stay
 * @throws SandboxError a process uses an entry; nothing is removed
 */
export async function cleanCache(
  root: string,
  processes: () => Promise<readonly RunningProcess[]> = runningProcesses,
): Promise<readonly string[]> {
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const own = names.filter((name) => OWN.test(name));
  const users = (await processes()).filter(({ words }) =>
    words.some((word) => own.some((name) => word.includes(`${join(root, name)}${sep}`))),
  );
  if (users.length > 0)
    throw new SandboxError(
      `${users.length} processes use ${root}, such as ${users[0]!.pid}. Nothing was removed.`,
      'Stop `make run`, tests and benches (Ctrl-C) first, also those of other clones.',
    );
  for (const name of own) await rm(join(root, name), { recursive: true, force: true });
  const others = names.filter((name) => !OWN.test(name));
  if (names.length > 0 && others.length === 0) await rmdir(root);
  return others;
}

interface RunningProcess {
  readonly pid: string;
  /** The path of the program, and its arguments. */
  readonly words: readonly string[];
}

/** The processes whose command line this user may read. Without `/proc`, as on macOS, the list is empty. */
async function runningProcesses(): Promise<readonly RunningProcess[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      const program = await readlink(join('/proc', pid, 'exe')).catch(() => '');
      const command = await readFile(join('/proc', pid, 'cmdline'), 'utf8').catch(() => '');
      return { pid, words: [program, ...command.split('\0')] };
    }),
  );
}

async function main(): Promise<void> {
  const root = cacheRoot();
  const others = await cleanCache(root);
  console.log(
    others.length === 0
      ? `Removed ${root}.`
      : `Removed what the sandbox had in ${root}. Left there: ${others.join(', ')}.`,
  );
  console.log(`Not removed, since other programs of yours may use them:
- the caches of Go, \`go env GOMODCACHE GOCACHE\`: \`go clean -modcache -cache\` empties both
- the cache of uv, ~/.cache/uv, which has the packages of Home Assistant: delete the folder
- node_modules of this clone: \`make clean\``);
}

if (require.main === module)
  main().catch((error: unknown) => {
    console.error(formatError(error));
    process.exitCode = 1;
  });
