import { randomBytes } from 'node:crypto';
import { isComparable, NEWEST_SUPPORTED } from '../../operator/base/hub-version';
import { CommandError } from '../command-error';
import { findInPath, sandboxPythons } from './find-program';

/** The command that starts the Python program. */
export interface Launch {
  readonly program: string;
  /** Arguments before `-I -c LOADER`. */
  readonly args: readonly string[];
  /** Description for messages, such as `the Python /usr/bin/python3`. */
  readonly description: string;
  /** Set for a container, which may outlive the command that starts it. */
  readonly container?: { readonly engine: string; readonly name: string; readonly image: string };
}

export interface PythonOptions {
  readonly python?: string;
  readonly image?: string;
  readonly hubVersion?: string;
}

/** The version and image in the Hub resource, if the files have one. */
interface HubWorkload {
  /** Tag or digest of the image. */
  readonly version?: string;
  readonly image?: string;
}

const IMAGE = 'ghcr.io/home-assistant/home-assistant';

export const WAYS_TO_PYTHON =
  'name the Python of a virtual environment that has Home Assistant with --python (pip install homeassistant), install docker or podman, or run it in a clone of the operator after make sandbox HUBS=1';

/** The environment in which a Python is searched. */
interface Surroundings {
  /** Folder of this program. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/**
 * Chooses the Python: from the option `--python`, or else from a clone of the repository, or else from the
 * hub's image with docker or podman.
 *
 * @throws CommandError no Python was found
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
 * @param version version of the Home Assistant that runs
 * @throws CommandError another version was requested
 */
export function checkVersion(version: string, { hubVersion }: PythonOptions): void {
  if (hubVersion === undefined || !isComparable(hubVersion)) return;
  if (version !== hubVersion && !version.startsWith(`${hubVersion}.`))
    throw new CommandError(
      `this Python has Home Assistant ${version}, and --hub-version is ${hubVersion}: name another one with --python, or leave out --hub-version`,
    );
}

/**
 * Options that confine the container, because the definitions of a home may come from other people: no
 * network, no privileges, and one writable folder.
 */
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
