import { dashboardQueries } from '../../../manifests/monitoring/dashboard';
import { ruleFile } from '../../../manifests/monitoring/objects';
import { evaluateRules, type RulesAnswer, type Series } from '../../../sandbox/checks';
import { freshNamespace, until } from '../../cluster';
import { area, automation, floor, Home } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, sumOf, type TestOperator } from '../../cluster/operator';

/** Evaluates the dashboard and the alerts with the metrics of a real operator and a real hub. */

/** Seconds between the scrapes in the evaluation; the test itself does not wait that long. */
const INTERVAL = 30;
const HOUR = 3_600;

/** Panels that may be empty while there is no fault, each with the reason. */
const EMPTY: Readonly<Record<string, string>> = {
  'Objects changed in a hub': 'nothing was changed there',
  'Certificate of the webhook ends in': 'this operator serves no webhook',
  'Reviews by the webhook': 'this operator serves no webhook',
  'Duration of reviews, 95 %': 'this operator serves no webhook',
  'Watches that broke off': 'none did',
  'Resources that refer to what their hub does not have': 'all references are found',
  Memory: 'this operator runs without a limit',
};

let answer: RulesAnswer;
let anHourLater: RulesAnswer;
let operator: TestOperator;

beforeAll(async () => {
  const home = new Home(await freshNamespace('monitoring'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  await home.apply(
    floor('villa', 'attic', { name: 'Attic' }),
    automation('villa', 'wake-up'),
    area('villa', 'cellar', { name: 'Cellar', floorName: 'Basement' }),
  );
  await home.ready('HubFloor', 'attic');
  await home.ready('HubAutomation', 'wake-up');
  await home.ready('HubArea', 'cellar', { status: 'False', reason: 'FloorNotReady' });
  const first = await operator.page('/metrics');
  await operator.touch('HubFloor', 'attic');
  // Nothing may be wrong or due at the moment that is repeated for an hour.
  const second = await until('nothing is due', async () => {
    const page = await operator.page('/metrics');
    const isDue = sumOf(page, 'workqueue_depth') + sumOf(page, 'controller_runtime_active_workers') > 0;
    return !isDue && /^hub_operator_hub_condition\{.*type="Ready".*\} 1$/m.test(page) && page;
  });
  const request = {
    interval: INTERVAL,
    series: scraped([first, ...Array<string>(HOUR / INTERVAL).fill(second)]),
    rules: JSON.stringify(ruleFile()),
  };
  anHourLater = await evaluateRules({ ...request, end: HOUR });
  answer = await evaluateRules({
    ...request,
    // Shortly after the second scrape, so that rates include both.
    end: 2 * INTERVAL,
    queries: dashboardQueries.map(({ expression }) => expression.replaceAll('$__rate_interval', '2m')),
  });
});

describe('dashboard', () => {
  test('each panel shows something, or may be empty while there is no fault', () => {
    const results = answer.expressions.slice(-dashboardQueries.length).map(({ results: count }) => count);
    const empty = dashboardQueries.filter(({ panel }, index) => results[index] === 0 && !(panel in EMPTY));
    expect(empty).toEqual([]);
  });

  test('the operator has each metric of each panel and each alert', async () => {
    const page = await operator.page('/metrics');
    const names = new Set(
      answer.expressions.flatMap(({ selectors }) => selectors.map(({ metric }) => metric)),
    );
    const types = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const missing = [...names].filter((name) => !types.has(name.replace(/_(bucket|count|sum)$/, '')));
    expect(missing).toEqual([]);
  });

  test('no alert fires within an hour in which nothing happens', () => {
    expect(anHourLater.alerts).toEqual([]);
  });
});

/** Converts pages of metrics into series with the labels of a target. */
function scraped(pages: readonly string[]): Series[] {
  const series = new Map<string, (number | null)[]>();
  for (const [index, page] of pages.entries())
    for (const line of page.split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const space = line.lastIndexOf(' ');
      const metric = withTarget(line.slice(0, space));
      const points = series.get(metric) ?? Array<number | null>(pages.length).fill(null);
      const value = Number(line.slice(space + 1));
      points[index] = Number.isFinite(value) ? value : null;
      series.set(metric, points);
    }
  return [...series].map(([metric, points]) => ({ metric, points }));
}

function withTarget(metric: string): string {
  const target = 'job="hub-operator-metrics",instance="10.0.0.5:8080"';
  return metric.endsWith('}') ? metric.replace('{', `{${target},`) : `${metric}{${target}}`;
}
