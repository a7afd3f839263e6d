import { randomBytes } from 'node:crypto';
import { isComparable, NEWEST_SUPPORTED } from '../../operator/base/hub-version';
import { CommandError } from '../command-error';
import { findInPath, sandboxPythons } from './find-program';

/** How the program in Python is started. */
export interface Launch {
  readonly program: string;
  /** Before `-I -c LOADER`. */
  readonly args: readonly string[];
  /** For messages: `the Python /usr/bin/python3`. */
  readonly description: string;
  /** A container, which outlives the command that started it. */
  readonly container?: { readonly engine: string; readonly name: string; readonly image: string };
}

export interface PythonOptions {
  readonly python?: string;
  readonly image?: string;
  readonly hubVersion?: string;
}

/** The Hub of the files, if they have one. */
interface HubWorkload {
  /** A tag, or a digest. */
  readonly version?: string;
  readonly image?: string;
}

const IMAGE = 'ghcr.io/home-assistant/home-assistant';

export const WAYS_TO_PYTHON =
  'name the Python of a virtual environment that has Home Assistant with --python (pip install homeassistant), install docker or podman, or run it in a clone of the operator after make sandbox HUBS=1';

/** The surroundings that are searched for a Python. */
interface Surroundings {
  /** The folder of this program. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/**
 * The Python that is used: `--python`, else that of a clone, else that of the image of the hub, by docker or podman.
 *
 * @throws CommandError there is none
 */
export async function chooseLaunch(
  { python, image, hubVersion }: PythonOptions,
  hub: HubWorkload | undefined,
  { folder, variables }: Surroundings,
): Promise<Launch> {
  if (python !== undefined && image !== undefined)
    throw new CommandError('--python and --image exclude each other: leave one out');
  if (python !== undefined) return { program: python, args: [], description: `the Python ${python}` };
  if (image === undefined) {
    const installed = await sandboxPythons(folder, variables);
    const version = hubVersion ?? hub?.version;
    const same = installed.find((each) => each.version === version);
    const chosen = same ?? (hubVersion === undefined ? installed[0] : undefined);
    if (chosen)
      return { program: chosen.path, args: [], description: `the Python of the sandbox, ${chosen.path}` };
  }
  for (const engine of ['docker', 'podman']) {
    const program = await findInPath(engine, variables);
    if (program === undefined) continue;
    return inContainer(program, engine, image ?? imageOf(hub, hubVersion));
  }
  const missing =
    image === undefined ? 'no Python with Home Assistant was found' : `--image needs docker or podman`;
  throw new CommandError(`${missing}: ${WAYS_TO_PYTHON}`);
}

function imageOf(hub: HubWorkload | undefined, hubVersion: string | undefined): string {
  const version = hubVersion ?? hub?.version ?? NEWEST_SUPPORTED;
  return `${hub?.image ?? IMAGE}${version.startsWith('sha256:') ? '@' : ':'}${version}`;
}

/**
 * @param version of the Home Assistant that runs
 * @throws CommandError it is not the one that was asked for
 */
export function checkVersion(version: string, { hubVersion }: PythonOptions): void {
  if (hubVersion === undefined || !isComparable(hubVersion)) return;
  if (version !== hubVersion && !version.startsWith(`${hubVersion}.`))
    throw new CommandError(
      `this Python has Home Assistant ${version}, and --hub-version is ${hubVersion}: name another one with --python, or leave out --hub-version`,
    );
}

/** Others have written a home: its container has no network, no rights, and one folder to write in. */
const CONFINED = [
  ...['--network', 'none', '--read-only', '--tmpfs', '/tmp'],
  ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
];

function inContainer(program: string, engine: string, image: string): Launch {
  const name = `hubtest-${randomBytes(6).toString('hex')}`;
  return {
    program,
    args: ['run', '--rm', '-i', ...CONFINED, '--name', name, '--entrypoint', 'python', image],
    description: `the image ${image} in ${engine}`,
    container: { engine: program, name, image },
  };
}
