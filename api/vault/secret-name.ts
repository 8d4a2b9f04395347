import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/quoted.ts';

/** How a secret is called outside of the vault (document 2, credentials). */
const prefix = 'vault.env.';

/** Whether a variable of an environment can be called so, and nothing that every object has is. */
export function isSecretName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) && !(name in {}) && name !== 'prototype';
}

/** The name as it was typed, with `vault.env.` before it or without. USAGE. */
export function parseSecretName(typed: string): string {
  const name = typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
  if (isSecretName(name)) return name;
  throw new WritError('USAGE', {
    message: `expected the name of a variable, found ${quoted(typed)}`,
    detail: { expected: 'letters, digits and `_`, at most 128, no digit first', found: typed.slice(0, 80) },
  });
}
