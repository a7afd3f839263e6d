import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import { hubRedactor } from '../hub-secrets';
import type { Pod } from '../hub/pod';
import { type PrepareReport, prepareReport } from '../hub/termination-messages';
import type { Services } from '../services';
import type { MarkerVariables } from './content-marker';

/** The problem of a configuration that `prepare-config` rejected at the start of the present pod. */
export interface StartVerdict {
  /** Of the rejected configuration and its secrets. */
  readonly marker: MarkerVariables;
  /** In the words of the hub's own check, without secrets. */
  readonly message: string;
}

/** Undefined: the pod started with the mounted files, or has not started yet. */
export async function startVerdict(
  services: Pick<Services, 'cache' | 'secrets'>,
  namespace: string,
  hub: string,
): Promise<StartVerdict | undefined> {
  const report = reportOf(services, namespace, hub);
  if (report?.result !== 'replaced' && report?.result !== 'refused') return undefined;
  const redact = await hubRedactor(services, { metadata: { namespace, name: hub } });
  const message = report.problems.map(({ text }) => redact(text)).join('\n');
  return { marker: report.content ?? { configuration: '' }, message };
}

/** The content that the present pod started with. Undefined: another one, or the pod has not got that far. */
export function startedContent(
  services: Pick<Services, 'cache'>,
  namespace: string,
  hub: string,
): MarkerVariables | undefined {
  const report = reportOf(services, namespace, hub);
  return report?.result === 'loaded' || report?.result === 'unchanged' ? report.content : undefined;
}

function reportOf(
  { cache }: Pick<Services, 'cache'>,
  namespace: string,
  hub: string,
): PrepareReport | undefined {
  return prepareReport(cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(hub).pod));
}
