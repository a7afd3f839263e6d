import { readFile } from 'node:fs/promises';
import type { OperatorProcess } from '../sandbox/operator-process';
import { scrape, sum } from './operator-metrics';
import { residentMegabytes } from './runtime';

/** Resident memory of an operator and its parts, in MB (Linux). */
interface ResidentParts {
  readonly total: number;
  /** The heap of V8, including its free pages. */
  readonly javascript: number;
  /** The heap of the C library, including its free memory. Large allocations are outside of it. */
  readonly allocator: number;
  /** Code of programs and libraries, which the processes of a node share. */
  readonly files: number;
}

export async function residentParts(operator: OperatorProcess): Promise<ResidentParts> {
  const { pid } = operator.process;
  const [total, files, mappings, metrics] = await Promise.all([
    residentMegabytes(pid),
    residentMegabytes(pid, 'RssFile'),
    readFile(`/proc/${pid}/smaps`, 'utf8'),
    scrape(operator),
  ]);
  const heap = /\[heap\]\n(?:\w+: .*\n)*?Rss: +(\d+) kB/.exec(mappings);
  return {
    total,
    javascript: Math.round(sum(metrics, 'nodejs_heap_size_total_bytes') / 2 ** 20),
    allocator: Math.round(Number(heap?.[1] ?? 0) / 1_024),
    files,
  };
}
