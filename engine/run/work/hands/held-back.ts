import type { CheckNetwork } from '../../../../core/contract/network-use.ts';

/**
 * Words of the system for what the sandbox does not let happen: mounts that are read-only, no network, system calls
 * that the filter refuses. `EACCES` is not among them: what the sandbox hides is not there, and modes of files are no
 * sandbox.
 */
const signs: readonly (readonly [RegExp, string])[] = [
  [/read-only file system|\bEROFS\b/i, 'to write outside the workspace'],
  [
    /network is unreachable|could not resolve host|temporary failure in name resolution|name or service not known|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b/i,
    'to reach the network',
  ],
  [/operation not permitted|\bEPERM\b/i, 'a call of the system'],
];

/** Lines are looked at to this length. */
const maxText = 256 * 1024;

/**
 * What the sandbox kept a command that failed from; `undefined` where nothing says so. The proxy's own record comes
 * first: it was there. Output is the program's word: one that lies makes people be asked once more, or lets it be tried
 * again where the sandbox stands around it as before.
 */
export function heldBack(output: string, network: CheckNetwork | undefined): string | undefined {
  const refused = network?.uses.find(({ outcome }) => outcome === 'refused');
  if (refused !== undefined) return `to reach ${refused.host.slice(0, 253)}`;
  const text = output.slice(-maxText);
  return signs.find(([sign]) => sign.test(text))?.[1];
}
