import { WritError } from '../../../core/base/errors.ts';
import type { SandboxBackend } from '../../../core/contract/sandbox.ts';

/** SANDBOX_NONE_REFUSED for one that confines nothing where the network is to be closed. */
export function requireConfined({ unconfined, name }: SandboxBackend, networkAccess: 'allow' | 'deny'): void {
  if (!unconfined || networkAccess === 'allow') return;
  throw new WritError('SANDBOX_NONE_REFUSED', {
    message: `\`--sandbox ${name}\` cannot keep a command from the network`,
    hints: ['`/network allow` first', `or a session without \`--sandbox ${name}\``],
  });
}
