import { area } from './area';
import { automation } from './automation';
import { communityRepository } from './community-repository';
import { configuration } from './configuration';
import { floor } from './floor';
import { hub } from './hub';
import { integration } from './integration';
import type { KindDefinition } from './kind';
import { label } from './label';
import { scene } from './scene';
import { script } from './script';
import { secrets } from './secrets';
import { zone } from './zone';

/** The registry: one line per kind. CRDs, the role, watches, metrics and docs follow from it. */
export const kinds: readonly KindDefinition[] = [
  hub,
  configuration,
  secrets,
  automation,
  scene,
  script,
  integration,
  floor,
  label,
  area,
  zone,
  communityRepository,
];

/** The kinds by `kind`. */
export const kindsByName: ReadonlyMap<string, KindDefinition> = new Map(
  kinds.map((definition) => [definition.kind, definition]),
);

/** The kinds that the webhook is called for. */
export const validatedKinds: readonly KindDefinition[] = kinds.filter(({ validated }) => validated);

export {
  area,
  automation,
  communityRepository,
  configuration,
  floor,
  hub,
  integration,
  label,
  scene,
  script,
  secrets,
  zone,
};

export type { HubArea, HubAreaSpec, HubAreaStatus } from './area';
export type { HubAutomation, HubAutomationSpec, HubAutomationStatus } from './automation';
export type {
  HubCommunityRepository,
  HubCommunityRepositorySpec,
  HubCommunityRepositoryStatus,
} from './community-repository';
export type { HubConfiguration, HubConfigurationSpec, HubConfigurationStatus } from './configuration';
export type { HubFloor, HubFloorSpec, HubFloorStatus } from './floor';
export type { Hub, HubSpec, HubStatus } from './hub';
export type { HubIntegration, HubIntegrationSpec, HubIntegrationStatus } from './integration';
export type { HubLabel, HubLabelSpec, HubLabelStatus } from './label';
export type { HubScene, HubSceneSpec, HubSceneStatus } from './scene';
export type { HubScript, HubScriptSpec, HubScriptStatus } from './script';
export type { HubSecrets, HubSecretsSpec, HubSecretsStatus } from './secrets';
export type { HubZone, HubZoneSpec, HubZoneStatus } from './zone';

export type { Condition } from './condition';
export type { Resource, ResourceMetadata, OwnerReference } from './resource';
