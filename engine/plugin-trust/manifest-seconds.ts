import type { Fields } from '../../core/base/parse-fields.ts';

const maxTimeoutSeconds = 600;

/** `timeoutSeconds` of what a manifest declares, where it is there; `what` declares it; throws for one that is none. */
export function parseSeconds({ timeoutSeconds }: Fields, what: string): { timeoutSeconds?: number } {
  if (timeoutSeconds === undefined) return {};
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0 && timeoutSeconds <= maxTimeoutSeconds))
    throw new TypeError(`${what}: expected \`timeoutSeconds\` within 0 and ${maxTimeoutSeconds}`);
  return { timeoutSeconds };
}
