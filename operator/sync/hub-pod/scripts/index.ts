import { readScript } from './read-script';

/**
 * Programs for the hub's image, in Python, since that image has it: no second image is pulled. Every path is an argument, so
 * that they run on a development node as well.
 */
export const PREPARE_CONFIG = program('prepare_config.py');
export const UNBAN_OPERATOR_IP = readScript('unban_operator_ip.py');
export const PROBE = program('probe.py');
export const INSTALL = readScript('install.py');

/**
 * The command of a container. Isolated: the working directory of the image is `/config`, and a `json.py` there would be
 * imported instead of Python's own.
 */
export const pythonCommand = (script: string, ...args: readonly string[]): readonly string[] => [
  'python3',
  '-I',
  '-c',
  script,
  ...args,
];

/**
 * The security context of a container that runs a program here: as root, it changes files of any user on the volume.
 */
export const scriptSecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE', 'FOWNER'] },
} as const;

/** With the texts of the modules in the places of their imports: the hub's image has none of these files. */
function program(name: string): string {
  return readScript(name).replace(/^from (mounted|stored_http) import .+$/gm, (_, module: string) =>
    readScript(`${module}.py`),
  );
}
