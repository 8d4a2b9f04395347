import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyText } from '../../plugin.ts';

/** One policy of a file, under the id that a refusal names: its `@id`, else the file and its number. */
export interface NamedPolicy {
  readonly id: string;
  readonly text: string;
  readonly path: string;
  /** Its `@reason`: why it forbids, for people. */
  readonly reason?: string;
}

/** What is wrong with a file. */
export interface PolicyFault {
  readonly path: string;
  readonly message: string;
}

/** Policies out of files, or everything that is wrong with them; no policy at all is a fault. */
export function readPolicies(
  cedar: typeof Cedar,
  { files }: PolicyText,
): { readonly policies: readonly NamedPolicy[]; readonly faults: readonly PolicyFault[] } {
  const policies: NamedPolicy[] = [];
  const faults: PolicyFault[] = [];
  for (const { path, bytes } of files) {
    const text = toText(bytes);
    if (text === undefined) {
      faults.push({ path, message: 'expected UTF-8' });
      continue;
    }
    const parts = cedar.policySetTextToParts(text);
    if (parts.type === 'failure') {
      faults.push(...parts.errors.map(({ message }) => ({ path, message })));
      continue;
    }
    if (parts.policy_templates.length > 0) faults.push({ path, message: 'templates are not supported' });
    if (parts.policies.length === 0) faults.push({ path, message: 'it holds no policy' });
    for (const [index, policy] of parts.policies.entries()) {
      const parsed = cedar.policyToJson(policy);
      const annotations = parsed.type === 'success' ? (parsed.json.annotations ?? {}) : {};
      const { id = `${path}#${index + 1}`, reason } = annotations;
      if (policies.some((one) => one.id === id))
        faults.push({ path, message: `the id \`${id}\` is given twice` });
      else policies.push({ id, text: policy, path, ...(typeof reason === 'string' ? { reason } : {}) });
    }
  }
  return { policies, faults };
}

function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
