import { parseAllowedSigners } from '../../attest/approval/allowed-signers.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';

/**
 * Skips lines without a valid signer, as for the repository's own list. ANCHOR_UNUSABLE if the list `name` has such
 * lines and no signer is left.
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
