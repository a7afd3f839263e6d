import type { Resource } from '../../kinds';
import { stalled } from '../../runtime/outcome';
import type { CustomResource } from '../../kinds/resource';
import type { SyncModule } from '../../runtime/sync-module';
import type { HubClients } from './hub-clients';

type Child = CustomResource &
  Resource<{ readonly hubRef: { readonly name: string }; readonly suspend?: boolean }>;

/**
 * Wraps the module of a kind that needs files in the hub's pod, which an external hub does not have
 * (rules.md, "External hubs").
 */
export function notForExternalHubs<R extends Child>(hubs: HubClients, module: SyncModule<R>): SyncModule<R> {
  return {
    ...module,
    async sync(resource, context) {
      const { name } = resource.spec.hubRef;
      if (!hubs.find(resource.metadata.namespace, name)?.spec.external) return module.sync(resource, context);
      const message = `The Hub ${name} is external, and a ${resource.kind} needs files in the hub's pod. Delete this resource and change that hub itself.`;
      return stalled('NotSupportedByExternalHub', message);
    },
  };
}
