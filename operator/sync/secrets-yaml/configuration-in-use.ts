/** The secrets that the configurations of hubs need. The folder `configuration`, which uses this one, implements it. */
export interface ConfigurationInUse {
  /** The keys that `!secret` asks for in the published configuration of a hub, or in those that the operator goes back to. */
  secretKeys(namespace: string, hub: string): Promise<ReadonlySet<string>>;
  /** Whether the hub has loaded its whole configuration with the secrets of this hash. */
  hasLoadedSecrets(namespace: string, hub: string, hash: string | undefined): Promise<boolean>;
}
