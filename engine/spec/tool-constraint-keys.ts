/** Every constraint key that a ToolRule may carry (resolutions A, ACL). */
const toolConstraintKeys = [
  'writeRoots',
  'denyPaths',
  'allowCommands',
  'denySubstrings',
  'maxOutputBytes',
  'maxWriteBytes',
  'maxResultBytes',
  'networkReason',
  'networkHosts',
] as const;
export type ToolConstraintKey = (typeof toolConstraintKeys)[number];

/** Narrows to a known key; own names of the list only, so `constructor` is unknown. */
export function isToolConstraintKey(key: string): key is ToolConstraintKey {
  return (toolConstraintKeys as readonly string[]).includes(key);
}
