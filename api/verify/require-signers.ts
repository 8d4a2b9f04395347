import { parseAllowedSigners } from '../../attest/approval/allowed-signers.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';

/**
 * Lines that name nobody are left out, as the repository does; a list (called `name`) in which nobody is left was meant
 * otherwise: ANCHOR_UNUSABLE.
 */
export function requireSigners(bytes: Uint8Array, name: string, option: string): void {
  const { signers, skipped } = parseAllowedSigners(bytes);
  const [first] = skipped;
  if (signers.length > 0 || first === undefined) return;
  throw new WritError('ANCHOR_UNUSABLE', {
    message: `\`${printable(name)}\` names no signer: ${first.reason} (line ${first.line})`,
    detail: { anchor: name, option, line: first.line },
    hints: ['each line is a name and a public key, as in the allowed_signers of OpenSSH'],
  });
}
