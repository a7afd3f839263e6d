import { App, Chart } from 'cdk8s';
import { Namespace } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { Hub, HubAutomation, HubConfiguration } from '../../imports/hub-operator.dev';

// One class for all homes, and a loop over their values: `cdk8s synth --app 'tsx samples/fleet/homes.ts'`.

interface HomeProps {
  readonly namespace: string;
  readonly timezone: string;
  readonly location: { readonly name: string; readonly latitude: string; readonly longitude: string };
}

class Home extends Chart {
  constructor(scope: Construct, id: string, { namespace, timezone, location }: HomeProps) {
    super(scope, id, { namespace });
    new Namespace(this, 'namespace', { metadata: { name: namespace, labels: { home: 'managed' } } });
    const hub = new Hub(this, 'hub', {
      metadata: { name: 'home' },
      spec: {
        version: '2026.11.0',
        timezone,
        storage: { size: '5Gi' },
        bootstrap: { ownerName: 'Service', location },
      },
    });
    const hubRef = { name: hub.name };
    new HubConfiguration(this, 'configuration', {
      metadata: { name: 'home' },
      spec: { hubRef, configuration: 'frontend:\nconfig:\nhistory:\n' },
    });
    new HubAutomation(this, 'welcome', {
      // A fixed name: the object in the hub stays the same when the construct moves.
      metadata: { name: 'welcome' },
      spec: {
        hubRef,
        alias: 'Welcome',
        triggers: [{ trigger: 'homeassistant', event: 'start' }],
        actions: [
          { action: 'persistent_notification.create', data: { message: 'This home is managed in Git.' } },
        ],
      },
    });
  }
}

const homes = {
  amsterdam: {
    timezone: 'Europe/Amsterdam',
    location: { name: 'Canal', latitude: '52.3700', longitude: '4.8900' },
  },
  lisbon: {
    timezone: 'Europe/Lisbon',
    location: { name: 'Hill', latitude: '38.7200', longitude: '-9.1400' },
  },
};

const app = new App({ outdir: process.env['CDK8S_OUTDIR'] ?? 'dist' });
for (const [name, home] of Object.entries(homes)) new Home(app, name, { namespace: `home-${name}`, ...home });
app.synth();
