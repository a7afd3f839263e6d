// Commands and events of the hub that only tests use, in addition to those of the operator.

export {}; // makes this file a module, so that the declaration below extends the named module

declare module '../../operator/client/connection/commands' {
  interface Commands {
    'backup/generate': { fields: { agent_ids: readonly string[]; name: string }; result: object };
    'backup/generate_with_automatic_settings': { fields: NoFields; result: object };
    'backup/restore': {
      fields: {
        backup_id: string;
        agent_id: string;
        password: string;
        restore_database: boolean;
        restore_homeassistant: boolean;
      };
      result: void;
    };
    'logger/log_info': {
      fields: NoFields;
      result: readonly { readonly domain: string; readonly level: number }[];
    };
    'config/auth/create': {
      fields: { name: string; group_ids: string[] };
      result: { user: { id: string } };
    };
    'config/auth_provider/homeassistant/create': {
      fields: { user_id: string; username: string; password: string };
      result: void;
    };
    /** Returns the manifests of integrations. */
    'manifest/list': {
      fields: { readonly integrations: readonly string[] };
      result: readonly {
        readonly domain: string;
        readonly iot_class?: string;
        readonly requirements?: readonly string[];
      }[];
    };
  }

  interface Events {
    core_config_updated: object;
  }
}

type NoFields = Record<string, never>;
