const maxTimeoutSeconds = 600;

/** `timeoutSeconds` of what a manifest declares, where it is there; throws for one that is none. */
export function parseSeconds({ timeoutSeconds }: Readonly<Record<string, unknown>>): {
  timeoutSeconds?: number;
} {
  if (timeoutSeconds === undefined) return {};
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0 && timeoutSeconds <= maxTimeoutSeconds))
    throw new TypeError(`expected \`timeoutSeconds\` within 0 and ${maxTimeoutSeconds}`);
  return { timeoutSeconds };
}
