import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPython } from '../../cluster/python-script';

/** A directory of configuration files before and after the operator has added to them. */
interface LoaderCase {
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

/** The result of the hub's own loader. */
export interface LoaderResult {
  /** Why the files cannot be loaded; null when they can. */
  readonly errorBefore: string | null;
  readonly errorAfter: string | null;
  /**
   * Sections that exist in only one of the two, or whose values differ; null stands for a missing section.
   */
  readonly differences: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

const COMPARE = `
import json, logging, pathlib, sys, tempfile
from homeassistant.util.yaml.loader import Secrets, load_yaml_dict

logging.disable(logging.CRITICAL)


def plain(value):
    # With types: True, 1 and "1" are three things; dates have no JSON.
    if isinstance(value, dict):
        return {"{}": [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return str(value)
    return {type(value).__name__: repr(value)}


def load(files):
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files.items():
            (pathlib.Path(directory) / name).write_bytes(text.encode())
        try:
            loaded = load_yaml_dict(directory + "/configuration.yaml", Secrets(pathlib.Path(directory)))
            return {json.dumps(plain(key)): plain(value) for key, value in loaded.items()}, None
        except Exception as error:
            return None, type(error).__name__ + ": " + str(error)


results = []
for case in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    before, error_before = load(case["before"])
    after, error_after = load(case["after"])
    differences = {}
    if before is not None and after is not None:
        for key in [*before, *after]:
            if key not in before or key not in after or before[key] != after[key]:
                name = json.loads(key)
                differences[name if isinstance(name, str) else key] = [before.get(key), after.get(key)]
    results.append({"errorBefore": error_before, "errorAfter": error_after, "differences": differences})
pathlib.Path(sys.argv[2]).write_text(json.dumps(results))
`;

const READ_SECRETS = `
import json, pathlib, sys, tempfile
from homeassistant.util.yaml.loader import Secrets

results = []
for case in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    with tempfile.TemporaryDirectory() as directory:
        (pathlib.Path(directory) / "secrets.yaml").write_bytes(case["text"].encode())
        secrets = Secrets(pathlib.Path(directory))
        read = {}
        for key in case["keys"]:
            value = secrets.get(directory + "/configuration.yaml", key)
            read[key] = str(value) if isinstance(value, str) else {type(value).__name__: repr(value)}
        results.append(read)
pathlib.Path(sys.argv[2]).write_text(json.dumps(results))
`;

/** Loads all cases in one process, whose start takes a second. */
export const compareByHub = (cases: readonly LoaderCase[]): Promise<LoaderResult[]> => run(COMPARE, cases);

/** Returns the values of `!secret` for the keys of each `secrets.yaml`. */
export const readSecretsByHub = (
  cases: readonly { readonly text: string; readonly keys: readonly string[] }[],
): Promise<Record<string, unknown>[]> => run(READ_SECRETS, cases);

async function run<T>(script: string, cases: readonly unknown[]): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'loader-'));
  try {
    const [input, output] = [join(directory, 'cases.json'), join(directory, 'results.json')];
    await writeFile(input, JSON.stringify(cases));
    const { code, output: printed } = await runPython(script, input, output);
    if (code !== 0) throw new Error(`cannot run the hub's loader: ${printed}`);
    return JSON.parse(await readFile(output, 'utf8')) as T;
  } finally {
    await rm(directory, { recursive: true });
  }
}
