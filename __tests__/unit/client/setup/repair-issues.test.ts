import type { HubConnection } from '../../../../operator/client/connection/connection';
import { RepairIssues } from '../../../../operator/client/setup/repair-issues';
import { listsOf } from '../kept';

test('a platform that its integration does not set up is named, if requested', async () => {
  const issues = ['sensor_template', 'light_gone'].map((name) => ({
    domain: 'homeassistant',
    issue_id: `platform_integration_no_support_${name}`,
  }));
  const other = { domain: 'custom', issue_id: 'platform_integration_no_support_sensor_filter' };
  const command = () => Promise.resolve({ issues: [...issues, other] });
  const onLost = () => undefined;
  const connection = { command, lists: listsOf(), onLost, onReconnect: onLost } as unknown as HubConnection;
  const repairs = new RepairIssues(connection);
  expect(await repairs.unsupportedPlatforms(['sensor.filter', 'sensor.template'])).toEqual([
    'sensor.template',
  ]);
});
