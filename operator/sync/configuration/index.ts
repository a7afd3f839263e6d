import { configuration as definition, type Hub, type HubConfiguration } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { defaulted } from '../../kinds/schema';
import { DEPENDENCY_REQUEUE } from '../../limits';
import { ready, stalled, waiting } from '../../runtime/outcome';
import type { SyncModule } from '../../runtime/sync-module';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { checkFailureOf } from './check-verdict';
import { configHash, generateConfiguration } from './generate';
import { unsupportedParts } from './unsupported';

/** Generates the hub's configuration into a ConfigMap, which needs no running hub. The Hub mounts it. */
export function configurationModule(services: Services): SyncModule<HubConfiguration> {
  return {
    async sync(resource) {
      const spec = defaulted(definition.spec, resource.spec);
      const generated = generateConfiguration(spec.configuration);
      if (generated.type === 'invalid') {
        return stalled('InvalidConfiguration', `${generated.message} The last good configuration stays.`);
      }
      const data = { ...spec.files, 'configuration.yaml': generated.text };
      const hash = configHash(data);
      await services.applier.apply(
        builtin.ConfigMap,
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {
            name: objectNames(spec.hubRef.name).configuration,
            namespace: resource.metadata.namespace,
            // One writer each (rules.md, "Rollout and debounce"): the Hub copies it to the pod template.
            annotations: { [operatorAnnotations.restartHash]: hash },
          },
          data,
        },
        { owner: resource },
      );
      const status = { configHash: hash };
      const failure = await checkFailureOf(services, resource, hash);
      if (failure) return stalled('CheckFailed', failure, { status });
      const { name } = spec.hubRef;
      const hub = services.cache.get<Hub>('Hub', resource.metadata.namespace, name);
      if (!hub)
        return waiting('HubNotFound', `Waiting for the Hub ${name}: it does not exist.`, DEPENDENCY_REQUEUE, {
          status,
        });
      const unsupported = unsupportedParts(spec, generated.sections, hub.status?.version);
      if (unsupported.length > 0) return stalled('NotYetSupported', unsupported.join(' '), { status });
      return ready(
        'ConfigurationGenerated',
        'The configuration is generated; a change of it restarts the hub.',
        { status },
      );
    },
  };
}
