import { parseStrictJson } from '../../../core/base/strict-json.ts';

/** A contract as it is written down, as far as it is looked at. */
interface Written {
  readonly constraints?: { readonly security?: { readonly networkPolicy?: unknown } };
}

/**
 * A contract with the network policy that a person chose at the review of its plan (document 2, Plan review); the same
 * bytes where it says so already. INTENTSPEC_MALFORMED.
 */
export function withNetwork(specBytes: Uint8Array, networkPolicy: 'allow' | 'deny'): Uint8Array {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const document = value as Written;
  const { constraints } = document;
  if (constraints?.security?.networkPolicy === networkPolicy) return specBytes;
  const changed = {
    ...document,
    constraints: { ...constraints, security: { ...constraints?.security, networkPolicy } },
  };
  return Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
}
