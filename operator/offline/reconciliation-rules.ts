import {
  automation,
  configuration,
  hub,
  integration,
  scene,
  script,
  secrets,
  type Hub,
  type HubAutomation,
  type HubConfiguration,
  type HubIntegration,
  type HubScene,
  type HubScript,
  type HubSecrets,
} from '../kinds';
import type { CustomResource } from '../kinds/resource';
import { defaulted } from '../kinds/schema';
import { automations } from '../sync/config-entities/automation';
import { scenes } from '../sync/config-entities/scene';
import { scripts } from '../sync/config-entities/script';
import { generateConfiguration } from '../sync/configuration/generate/generate';
import { readHttpSection } from '../sync/configuration/generate/http-section';
import { statefulSet } from '../sync/hub/workload/statefulset';
import { resolveAnswers } from '../sync/integration/answers';
import { invalidListedKey } from '../sync/secrets/combine';

/** @param message a sentence, which begins with the field if there is one: `spec.files[a.yaml], line 2: …` */
type Report = (severity: 'error' | 'warning', message: string) => void;

/** The message that the reconciliation would report in `Stalled`. */
export async function reportReconciliationProblems(resource: CustomResource, report: Report): Promise<void> {
  const error = (message: string | undefined): void => {
    if (message !== undefined) report('error', message);
  };
  switch (resource.kind) {
    case automation.kind:
      return error(automations.validate?.(automations.spec(resource as unknown as HubAutomation)));
    case scene.kind:
      return error(scenes.validate?.(scenes.spec(resource as unknown as HubScene)));
    case script.kind:
      return error(scripts.validate?.(scripts.spec(resource as unknown as HubScript)));
    case integration.kind: {
      const { metadata, spec } = resource as unknown as HubIntegration;
      // Secrets are not read: a missing one is not an error here.
      const noSecrets = {
        secrets: { find: () => Promise.resolve(undefined) },
        settings: { requireSecretLabel: false },
      };
      const resolved = await resolveAnswers(noSecrets, metadata.namespace, defaulted(integration.spec, spec));
      // The messages of `resolveAnswers` name the field without `spec`.
      return error('invalid' in resolved ? `spec.${resolved.invalid}` : undefined);
    }
    case configuration.kind: {
      const spec = defaulted(configuration.spec, (resource as unknown as HubConfiguration).spec);
      const generated = generateConfiguration({ ...spec, hasSecrets: true });
      if (generated.type === 'invalid') return error(generated.message);
      for (const notice of generated.notices) report('warning', notice);
      const section = readHttpSection(generated.files);
      if (section.type === 'invalid') report('warning', section.message); // a hub before 2026.8 reads it itself
      return;
    }
    case secrets.kind:
      return error(invalidListedKey(defaulted(secrets.spec, (resource as unknown as HubSecrets).spec)));
    case hub.kind: {
      const given = resource as unknown as Hub;
      if (given.spec.external) return;
      const set = statefulSet(given, defaulted(hub.spec, given.spec), { config: '' }, {});
      return error('problem' in set ? set.problem : undefined);
    }
  }
}
