import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** What each bench measures, and what it is to reach; the page has them in this order. */
const about: Readonly<Record<string, string>> = {
  runtime:
    'The runtime alone: resources of a kind without a module (suspended ones in the figures of 2026-11-21), so that nothing but watching, queueing and comparing is paid for. To reach: idle RSS at most 160 MB with 10,000 resources (100 MB with 500), all checked after a start within 10 s without a write, p95 from a change to its status within 50 ms, idle CPU at most 1 %. `make bench N=10000`',
  'runtime-500': 'The same with 500 resources. `make bench N=500`',
  automations:
    'Automations against real hubs. The floor is the same POSTs, one after another, by a bare loop to a fresh hub; the hub parses and writes its whole file for each, which is where the time goes. To reach: exactly as many POSTs as automations, at most 10 reloads of ours, at most 1.15 × the floor, operator CPU under 10 % of the hub’s; after a restart no write; 100 edits within 10 s at most 6 POSTs, the last of them winning. `make bench NAME=automations`',
  registries:
    'Areas with their floors and labels on a real hub, areas created first. To reach: all Ready within 10 s, each created once, nothing else changed in the hub. `make bench NAME=registries`',
  hubs: 'Many hubs beside each other (light stand-ins) against one alone, per hub. To reach: at most 1.2 × in requests and CPU. `make bench NAME=hubs`',
  soak: 'Changes, deletions and creations while connections are reset every 5 s and the API server is killed every 45 s. To reach: nothing missed, every failed request with a cause, memory, files and connections at most 1.1 × those of the first quarter. `make soak`',
};

/** Writes docs/reference/figures.md from all results that are kept. */
export async function writeFiguresPage(results: string, page: string): Promise<void> {
  const kept = (await readdir(results)).filter((file) => file.endsWith('.json'));
  const names = Object.keys(about).filter((name) => kept.includes(`${name}.json`));
  const sections = await Promise.all(names.map((name) => section(name, join(results, `${name}.json`))));
  const head = [
    '<!-- Written by `make bench` from bench/results. -->',
    '# Figures',
    'Measured on the shipped bundle against a real API server, and real hubs where it says so. Times depend on the machine; what matters are counts and ratios.',
  ];
  await writeFile(page, `${[...head, ...sections].join('\n\n')}\n`);
}

async function section(name: string, file: string): Promise<string> {
  const figures = JSON.parse(await readFile(file, 'utf8')) as Record<string, number | string>;
  const rows = Object.entries(figures).map(([figure, value]) => `| ${figure} | ${value} |`);
  return [`## ${basename(name)}`, about[name], ['| | |', '|---|---|', ...rows].join('\n')].join('\n\n');
}
