import { WritError } from '../../core/base/errors.ts';
import { parsePublicKeys } from '../encoding/public-key.ts';
import { parseVkey } from '../log/ledger-key.ts';
import { parseTlogPolicy } from '../log/tlog-policy.ts';
import type { Anchors } from './anchors.ts';
import { readAnchor, toAnchor } from './read-anchor.ts';

/** Whom a program believes that verifies for itself. Nothing is read from the user's directories. */
export interface Trust {
  /** Public keys of signers: PEM, one or more in each. */
  readonly keys?: readonly string[];
  /** Keys of logs: C2SP vkeys. Where one is given, an entry in such a log is asked for. */
  readonly ledgerKeys?: readonly string[];
  /** Which witnesses have to have cosigned which logs: C2SP tlog-policies. */
  readonly witnessPolicies?: readonly string[];
  /** A sigstore `trusted_root.json`: authorities and logs of others. */
  readonly trustedRoot?: string;
  /** Whose certificate is believed, literally; needs a trusted root. */
  readonly identity?: { readonly identity: string; readonly issuer: string };
}

/** The anchors that a program gives. What is no anchor, or says half of something, is ANCHOR_UNUSABLE. */
export async function toAnchors({
  keys = [],
  ledgerKeys = [],
  witnessPolicies = [],
  trustedRoot: root,
  identity,
}: Trust): Promise<Anchors> {
  if (identity !== undefined && root === undefined)
    throw new WritError('ANCHOR_UNUSABLE', {
      message: 'expected `identity` with a `trustedRoot`, which says whose certificates are believed',
      detail: { anchor: 'identity' },
    });
  const named = (name: string) => (text: string, n: number) => ({ name: `${name}[${n}]`, text });
  const trustedRoot = root === undefined ? undefined : await readTrustedRoot(root);
  return {
    ...(trustedRoot && { trustedRoot }),
    ...(identity && { identity }),
    signers: keys
      .map(named('keys'))
      .flatMap((one) => readAnchor(one, parsePublicKeys))
      .map((key) => toAnchor(key, 'given')),
    ledgers: [
      ...ledgerKeys
        .map(named('ledgerKeys'))
        .map((one) => ({ ...readAnchor(one, parseVkey), from: 'given' as const })),
      ...(trustedRoot?.ledgers ?? []).map((key) => ({ ...key, from: 'root' as const })),
    ],
    ...(witnessPolicies.length > 0 && {
      witnessPolicies: witnessPolicies
        .map(named('witnessPolicies'))
        .map((one) => readAnchor(one, (text) => parseTlogPolicy(Buffer.from(text)))),
    }),
    ownLedgers: [],
  };
}

async function readTrustedRoot(text: string): Promise<Anchors['trustedRoot']> {
  const { parseTrustedRoot } = await import('../public/trusted-root.ts');
  return readAnchor({ name: 'trustedRoot', text }, () => parseTrustedRoot(Buffer.from(text)));
}
