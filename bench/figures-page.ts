import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hostileScenarios } from './hostile-input';

interface Bench {
  /** Paragraphs about the conditions and the method. */
  readonly about: string;
  /** The command that measures the figures. Default: `make bench` with the name of the bench. */
  readonly command?: string;
  /** The bar that each figure has to reach. */
  readonly bars: Readonly<Record<string, string>>;
}

const runtimeBars = {
  'idle CPU, %': '≤ 1',
  'idle writes, but for the lease': '0',
  'change → status p95, ms': '≤ 50',
  'all checked after a start, s': '≤ 10',
  'writes of them': '0',
  'peak RSS, MB': '< 256, the limit of the container',
};

/** The benches in the order of the page. */
const benches: Readonly<Record<string, Bench>> = {
  runtime: {
    about:
      'The operator with many automations of about 1 KB, with finalizers, on ten light stand-ins of hubs. 100 of them are changed one after another, without a pause.',
    command: 'make bench N=10000',
    bars: { ...runtimeBars, 'idle RSS, MB': '≤ 160' },
  },
  'runtime-500': {
    about: 'The same with 500 automations.',
    command: 'make bench N=500',
    bars: { ...runtimeBars, 'idle RSS, MB': '≤ 100' },
  },
  automations: {
    about:
      'Automations against real hubs. The floor is the same POSTs, one after another, by a bare loop to a fresh hub. For each the hub parses and writes its whole file, which takes most of the time.',
    bars: {
      'ratio to the floor': '≤ 1.15',
      POSTs: 'one for each automation',
      'reloads of ours': '≤ 10',
      'operator CPU, % of the hub’s': '< 10',
      'restart: writes to the hub': '0',
      'restart: writes to the cluster, with those of the lease': '0',
      '100 edits: POSTs': '≤ 6',
      '100 edits: the last one won': 'yes',
    },
  },
  delivery: {
    about:
      'Automations with `delivery: File` against real hubs. The floor is that of the API: the same definitions as POSTs, one after another, by a bare loop to a fresh hub with 200 of them. With more it would be higher for each.\n\nThe floor of the cluster is a plain client that creates the same resources and writes a finalizer and a status for each.',
    bars: {
      '500: all Ready after the last was accepted, s': '≤ 10',
      '500: times faster than the floor': '≥ 20',
      '500: POSTs': '0',
      '500: reloads of automations': '≤ 5',
      '500: one change in use after, s': '≤ 3',
      '500: all Ready after the first was created, ratio to that': '≤ 1.5',
      '2000: all Ready after the last was accepted, s': '≤ 40',
      '2000: all Ready after the first was created, ratio to that': '≤ 1.5',
      '2000: POSTs': '0',
      '2000: one change in use after, s': '≤ 5',
    },
  },
  registries: {
    about: 'Areas with their floors and labels on a real hub, areas created first.',
    bars: {
      'all Ready after the first was created, s': '≤ 10',
      'created in the hub': 'each once',
      'other changes in the hub': '0',
    },
  },
  settings: {
    about: 'Settings of the entities of a real hub that has as many automations, and what they cost at rest.',
    bars: {
      'updates in the hub for each': '1',
      'idle RSS, MB': '≤ 110',
      'writes to the cluster in a minute at rest': '0',
      'a change in the hub is reverted after, median, s': '< 2',
    },
  },
  configuration: {
    about:
      'Changes of a HubConfiguration on a real hub: from the request to the API server until the hub has the new entity, with check, proof and reload.\n\nThen a home of 120 packages in six ConfigMaps of a person, which comes to its hub in parts: a change of one package, and the resident memory of the operator before it and half a minute later.',
    bars: {
      'change to effect in the hub, median, s': '< 1',
      '1.2 MB: change of one package to effect in the hub, median, s': '< 1',
      '3 MiB: more memory of the operator at rest, MB': '≤ 25',
    },
  },
  commands: {
    about:
      'Commands of `kubectl hub`, each from the start of the program to its end: an export of a real hub with automations as its editor makes them, and the status of those that were applied.\n\nMeasured without `NODE_EXTRA_CA_CERTS`, with which Node.js 20 takes 50 ms longer to start.',
    bars: {
      'files of the export': 'one for each automation',
      'export, s': '< 60',
      'export: CPU of the hub for each, ms': '< 30',
      'status, median, ms': '< 300',
      'status with the operator’s Node.js, median, ms': '< 300',
    },
  },
  'hub-test': {
    about:
      'Processor time of the program in Python that runs the cases of `kubectl hub test`, with the hub of the sandbox. The first case includes the start of the hub.\n\nMeasured are further cases of the same home, 48 hours of three automations, and a week of 200 automations that run every 5 to 24 minutes, with coverage and a timeline.\n\nTwo runs are equal if each byte of their answers is equal, but for the duration of a case.',
    bars: {
      'first result: CPU, s': '≤ 6',
      'each further case: CPU, s': '≤ 0.1',
      '48 h of 3 automations: CPU, s': '≤ 0.5',
      '7 days of 200 automations with coverage: CPU, s': '≤ 30',
      '7 days of 200 automations: peak memory, MiB': '≤ 300',
      'equal ones of 20 runs': '20',
    },
  },
  'hub-test-fidelity': {
    about:
      'Small homes of one or two automations run once on the virtual clock of `kubectl hub test`, and once in a real hub on the clock of the machine, with seconds for hours.\n\nBoth should make the same calls, by the same authors, with the same data, in the same order. Measured with the oldest and the newest hub.',
    bars: Object.fromEntries(
      ['2025.11.0', '2026.11.0'].flatMap((version) => [
        [`${version}: scenarios with the same calls in the same order`, 'all'],
        [`${version}: largest difference of a time, s`, '≤ 1'],
      ]),
    ),
  },
  hubs: {
    about: 'Many hubs beside each other (light stand-ins) against one alone, per hub.',
    bars: {
      'set-up: requests to the hub, of one alone → of each': '≤ 1.2 ×',
      'set-up: requests to the cluster, of one alone → of each': '≤ 1.2 ×',
      'set-up: CPU, ms, of one alone → of each': '≤ 1.2 ×',
      'idle: requests to the hub, of one alone → of each': '≤ 1.2 ×',
      'idle: requests to the cluster, of one alone → of each': '≤ 1.2 ×',
      'idle: CPU, ms, of one alone → of each': '≤ 1.2 ×',
    },
  },
  fleet: {
    about:
      'One operator with hundreds of hubs of 50 automations (light stand-ins): memory, start, a line changed in all, one hub in ten that hangs, another leader.',
    bars: {
      'memory of the operator, MiB': '≤ 320',
      'writes at rest, in 30 s': '0',
      'start: all looked at after, s': '≤ 30',
      'one line changed in all: in the hubs after, s': '≤ 120',
    },
  },
  webhook: {
    about:
      'Reviews of the webhook, called by the API server, with many automations in the cache of the operator. CPU is that of the whole process. The automations are suspended: those that wait for a Hub are reconciled every 30 s, which is no work of a review.',
    bars: {
      'reviews within 20 ms while they are created, %': '≥ 99',
      'reviews within 20 ms at rest, %': '≥ 99',
      'operator CPU for a review, ms, with one automation → with all': '≤ 1.2 ×',
      'duplicates refused': 'all',
    },
  },
  'cold-start': {
    about:
      '`make run` until all samples are Ready, with empty caches of the sandbox, Go, uv and pip. The packages of npm are installed.\n\nThe official programs of the control plane come from a stand-in of their host on the machine. Python, uv and Home Assistant come from the package registries, whose speed counts.',
    bars: { 'nothing in any cache, all samples Ready, s': '< 90' },
  },
  'hostile-input': {
    about:
      'Foreign input, read by the modules of the operator with the flags of its image and 42 MB held:\n\n- answers of up to 12 MiB of a hostile hub (managed, external; REST, first and later frames)\n- lists of 2 MB of as many hubs, which the operator keeps\n- POSTs of 4 and 6 MB to the webhook, ten in parallel\n- watched objects of 1.4 MiB\n\nHalf of the answers, and a quarter of the later frames, have as many values as are read at most, the others more. Each scenario lasts 40 s at most.',
    bars: Object.fromEntries(
      hostileScenarios.flatMap((scenario) => [
        [`${scenario}: longest pause, ms`, '< 2,000'],
        [`${scenario}: peak heap, MB`, '< 150, of 166'],
      ]),
    ),
  },
  'hostile-operator': {
    about:
      'Whether new automations of a hub, a light stand-in, wait while the operator as it ships is flooded, for 150 s at most:\n\n- by thirty hostile hubs, ten over REST, ten with their first frames, ten with later ones\n- by a pod that sends ten POSTs of 4 and 6 MB at once to the webhook, again and again\n- by six automations of 1.4 MiB\n\nThe longest of a hundred waits varies by chance: 1,488 to 2,654 ms in four runs of one evening, with a median of 831 to 1,009 ms.',
    bars: {
      'the longest wait for the floods: longest during, less the median before, ms': '< 2,000',
      'large automations that are InvalidSpec': 'all',
      'ends of the operator': '0',
      'changes of the leader': '0',
      'longest time since the lease was renewed, s': '< 10',
      'longest answer of a probe, ms': '< 5,000, the timeout of the liveness probe',
      'probes that failed': '0',
      'processes that the kernel ended for the memory limit of the container': '0',
      'peak memory of the container, MB': '< 268, its limit',
    },
  },
  soak: {
    about:
      'Changes, deletions and creations of 500 automations on light stand-ins of hubs, and changes of five configurations, while connections to the API server are reset every 5 s and it is killed every 45 s.\n\nThen sixty hostile hubs are made, flood the operator with texts of up to 12 MiB and are removed.',
    command: 'make soak',
    bars: {
      'automations that missed their last change, or their deletion': '0',
      'configurations that missed their last change': '0',
      'RSS at the first quarter → end, MB': '≤ 1.1 ×',
      'open files': '≤ 1.1 × + 2',
      'connections to the API server': '≤ 1.1 × + 2',
      'failed requests without a cause': 'none',
      'RSS after a rest of half the minutes, MB': '≤ 115',
    },
  },
};

/** Writes docs/reference/figures.md from all stored results. */
export async function writeFiguresPage(results: string, page: string): Promise<void> {
  const kept = (await readdir(results)).filter((file) => file.endsWith('.json'));
  const names = Object.keys(benches).filter((name) => kept.includes(`${name}.json`));
  const sections = await Promise.all(names.map((name) => section(name, join(results, `${name}.json`))));
  const head = [
    '<!-- Written by `make bench` from bench/results. -->',
    '# Figures',
    'Measured on the shipped bundle against a real API server, and real hubs where it says so. Times depend on the machine: counts and ratios matter more.',
  ];
  await writeFile(page, `${[...head, ...sections].join('\n\n')}\n`);
}

async function section(name: string, file: string): Promise<string> {
  const figures = JSON.parse(await readFile(file, 'utf8')) as Record<string, number | string>;
  const { about, command = `make bench NAME=${name}`, bars } = benches[name]!;
  const rows = Object.entries(figures).map(
    // Unescaped, the label `<error>` of a metric would be an HTML tag.
    ([figure, value]) =>
      `| ${figure} | ${String(value).replaceAll(/<(?=\w)/g, '&lt;')} | ${bars[figure] ?? ''} |`,
  );
  const table = ['| Figure | Measured | To reach |', '|---|---|---|', ...rows].join('\n');
  return [`## ${basename(name)}`, about, `\`${command}\``, table].join('\n\n');
}
