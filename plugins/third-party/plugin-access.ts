/* The user's settings for third-party plugins. */
import { authorizeTarget, readTarget } from '../../workspace/egress/openings.ts';
import type { PluginPackage } from './plugin-package.ts';

/** A secret, and a description of where it is stored. */
interface HandedSecret {
  readonly value: string;
  readonly place: string;
}

/**
 * The user's settings for third-party plugins, which the repository cannot change. Without them, no plugin is
 * trusted.
 */
export interface PluginAccess {
  /** True where the user trusts this very content (`writ plugin trust`, or named on the command line). */
  trusts(digest: string): Promise<boolean>;
  /** Returns the user's stored package for this digest (`writ plugin add`). If its digest differs, it was altered. */
  find(digest: string): Promise<PluginPackage | undefined>;
  /** Returns a secret by its name, for a plugin that declares it. Absent: plugins receive no secrets. */
  secret?(name: string): Promise<HandedSecret | undefined>;
  /** Reports to the user where a required secret was found; never its value. */
  told?(line: string): void;
  /**
   * What a file of the user's own (`~/…`) holds, for a plugin that declares it. KEY_INSECURE for one that others could
   * change, PLUGIN_FILE_REFUSED for what is writ's own.
   */
  file?(path: string): Promise<string | undefined>;
}

/** Trusts no plugin and stores none. */
export const noPluginAccess: PluginAccess = { trusts: async () => false, find: async () => undefined };

/** Returns whether these entries open the host and port of a service's address, by the egress proxy's rules. */
export function opensHost(hosts: readonly string[], address: string): boolean {
  const url = new URL(address);
  const target = readTarget(url.host, url.protocol === 'https:' ? 443 : 80);
  return (
    target !== undefined && authorizeTarget({ all: false, openings: [[{ hosts, reason: '' }]] }, target).open
  );
}
