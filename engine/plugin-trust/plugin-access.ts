import type { PluginPackage } from './plugin-package.ts';

/** A secret, and where it lies in words. */
export interface HandedSecret {
  readonly value: string;
  readonly place: string;
}

/** What the user says about plugins of others; the repository has no say in it. Without one, nothing is trusted. */
export interface PluginAccess {
  /** True where the user trusts this very content (`writ plugin trust`, or named on the command line). */
  trusts(digest: string): Promise<boolean>;
  /** What lies where the user keeps a package of this digest (`writ plugin add`); another digest: it was altered. */
  find(digest: string): Promise<PluginPackage | undefined>;
  /** A secret by its name, for a plugin that declares it; absent: none is handed over. */
  secret?(name: string): Promise<HandedSecret | undefined>;
  /** Told for people where a secret that is needed was found; never what it is. */
  told?(line: string): void;
  /**
   * What a file of the user's own (`~/…`) holds, for a plugin that declares it. KEY_INSECURE for one that others could
   * change, PLUGIN_FILE_REFUSED for what is writ's own.
   */
  file?(path: string): Promise<string | undefined>;
}

/** Trusts nothing, keeps nothing. */
export const noPluginAccess: PluginAccess = { trusts: async () => false, find: async () => undefined };
