import { readScript } from './read-script';

/**
 * Programs that run in the hub's image. They are written in Python, since that image includes it, so that no
 * second image has to be pulled. Every path is an argument, so that the programs also run outside of a pod.
 */
export const PREPARE_CONFIG = program('prepare_config.py');
export const UNBAN_OPERATOR_IP = readScript('unban_operator_ip.py');
export const PROBE = program('probe.py');
export const INSTALL = readScript('install.py');

/**
 * The command of a container that runs a Python program. Python runs isolated (`-I`): the working directory
 * of the image is `/config`, and a `json.py` there would be imported instead of Python's own.
 */
export const pythonCommand = (script: string, ...args: readonly string[]): readonly string[] => [
  'python3',
  '-I',
  '-c',
  script,
  ...args,
];

/**
 * The security context of a container that runs one of these programs. The programs run as root and change
 * files of any user on the volume.
 */
export const scriptSecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE', 'FOWNER'] },
} as const;

/**
 * Reads a program and replaces its imports of own modules by the text of these modules, since the hub's image
 * does not have them.
 */
function program(name: string): string {
  return readScript(name).replace(/^from (mounted|stored_http) import .+$/gm, (_, module: string) =>
    readScript(`${module}.py`),
  );
}
