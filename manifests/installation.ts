import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { CustomResourceDefinitions } from './crds';
import { addMonitoring } from './monitoring';
import { installationLabels } from './names';
import { Operator } from './operator';
import type { SynthSettings } from './settings';
import { AdmissionWebhook } from './webhook';

/** All objects of an installation in one file, in the order in which kubectl applies them. */
export class Installation extends Chart {
  constructor(app: Construct, name: string, settings: SynthSettings) {
    super(app, name, { labels: installationLabels });
    new CustomResourceDefinitions(this);
    new Operator(this, settings);
    if (settings.webhook) new AdmissionWebhook(this, settings.webhook, settings.namespace);
    if (settings.monitoring) addMonitoring(this, settings.namespace);
  }
}
