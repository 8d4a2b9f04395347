/* How `[log]` of the configuration is read for the internal ledger and for a public log. */
import type { ConfigSection, LogForm, LogSource, SealingPlace } from '../../core/interfaces/sealing.ts';
import { parseVkey } from './note.ts';

/** The mode by which a spec selects the internal ledger. */
export const ledgerMode = 'internal-ledger';

/** The settings of the internal ledger in `[log]`. */
export interface LedgerSection {
  /** Git carries a copy of it that follows each append. */
  readonly mirror?: 'git';
  /** Instead of a ledger of this repository: one that many repositories share. */
  readonly shared?: SharedSection;
}

/** A shared ledger: where it is, and what each of its answers is checked with. */
export interface SharedSection {
  readonly url: string;
  readonly vkey: string;
  /** C2SP tlog-policy whose quorum each checkpoint needs: a path in the tree of the policy commit. */
  readonly policy?: string;
}

/** How `[log]` is read for the internal ledger. */
export const ledgerForm: LogForm = { readSection: readLedgerSection };

function readLedgerSection(section: ConfigSection): LedgerSection {
  const mirror = section.text('mirror');
  const shared = readShared(section);
  if (mirror !== undefined && shared !== undefined)
    section.refuse('mirror', 'the entries of a shared ledger are on its server: remove `mirror`');
  if (mirror === 'git') return { mirror };
  if (mirror !== undefined) section.refuse('mirror', 'expected `git`');
  return shared === undefined ? {} : { shared };
}

function readShared(section: ConfigSection): SharedSection | undefined {
  const url = section.url('server');
  const policy = section.path('policy');
  if (!section.has('server')) {
    if (section.has('policy')) section.refuse('policy', 'expected `server` beside it');
    return undefined;
  }
  const vkey = requireVkey(section);
  return url === undefined || vkey === undefined
    ? undefined
    : { url, vkey, ...(policy === undefined ? {} : { policy }) };
}

/** Returns the settings for a place; empty if the configuration has no internal ledger. */
export function ledgerSectionOf({ config }: Pick<SealingPlace, 'config'>): LedgerSection {
  return (config.log[ledgerMode] as LedgerSection | undefined) ?? {};
}

/** Log mode `none`: there is no log and no proof. */
export const noLogSource: LogSource = { open: async () => undefined };

/** The mode by which a spec selects a public log. */
export const publicLogMode = 'public-log';

/** The settings of the public log in `[log]`. */
export interface PublicLogSection {
  /** URL and API of the log. Absent if a signing config names them, or if none is configured. */
  readonly service?: { readonly url: string; readonly api: 'v1' | 'v2' };
  /** Sigstore SigningConfig: a path in the tree of the policy commit. */
  readonly signingConfig?: string;
  /** Instead of all the rest: a log that a listed plugin speaks to, and the key that its answers are checked with. */
  readonly plugin?: { readonly name: string; readonly vkey: string };
  /** Sigstore TrustedRoot that answers are checked against: a path in the tree of the policy commit. */
  readonly trustedRoot?: string;
}

/** Reads the settings. Refuses a log without a trusted root to verify it, and a log that is configured twice. */
export function readPublicLogSection(section: ConfigSection): PublicLogSection {
  const url = section.url('url');
  const api = section.has('api') ? (section.text('api') ?? 'v2') : undefined;
  const signingConfig = section.path('signing_config');
  const trustedRoot = section.path('trusted_root');
  const isSaid = section.has('url');
  const plugin = readPlugin(section);
  if (section.has('plugin') && (isSaid || signingConfig !== undefined || trustedRoot !== undefined))
    section.refuse('plugin', 'expected either a plugin and its `vkey`, or a log of sigstore');
  if (api !== undefined && api !== 'v1' && api !== 'v2') section.refuse('api', 'expected `v1` or `v2`');
  if (isSaid && api === undefined) section.refuse('api', 'expected `v1` or `v2` beside `url`');
  if (!isSaid && api !== undefined) section.refuse('api', 'says how to speak to `url`, which is missing');
  if (isSaid && signingConfig !== undefined)
    section.refuse('signing_config', 'expected either `url` or `signing_config`');
  if ((isSaid || signingConfig !== undefined) && trustedRoot === undefined)
    section.refuse('trusted_root', 'expected a trusted root: without one no answer could be checked');
  return {
    ...(url !== undefined && (api === 'v1' || api === 'v2') ? { service: { url, api } } : {}),
    ...(plugin === undefined ? {} : { plugin }),
    ...(signingConfig === undefined ? {} : { signingConfig }),
    ...(trustedRoot === undefined ? {} : { trustedRoot }),
  };
}

/** Refuses a log without a key that could verify its answers. */
function readPlugin(section: ConfigSection): PublicLogSection['plugin'] {
  const name = section.text('plugin');
  if (section.has('server')) {
    // The key is that of the shared ledger.
    if (section.has('plugin')) section.refuse('plugin', 'expected either `plugin` or `server`');
    return undefined;
  }
  if (!section.has('plugin') && !section.has('vkey')) return undefined;
  if (name === undefined) section.refuse('plugin', 'expected the name of a log beside `vkey`');
  const vkey = requireVkey(section);
  return name === undefined || vkey === undefined ? undefined : { name, vkey };
}

/** The key that the answers of a log are checked with; refused where there is none. */
function requireVkey(section: ConfigSection): string | undefined {
  const vkey = section.text('vkey');
  if (vkey !== undefined && isVkey(vkey)) return vkey;
  section.refuse(
    'vkey',
    'expected the key of the log, `name+hint+base64`: without one no answer could be checked',
  );
  return undefined;
}

function isVkey(text: string): boolean {
  try {
    return parseVkey(text).name !== '';
  } catch {
    return false;
  }
}

/** Returns the settings for a place; empty if the configuration has no public log. */
export function publicLogSectionOf({ config }: Pick<SealingPlace, 'config'>): PublicLogSection {
  return (config.log[publicLogMode] as PublicLogSection | undefined) ?? {};
}
