import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Modules are named as written (`./rule.ts`); in the compiled package such a one stands beside as `.js`. Takes and
 * answers a file URL.
 */
export function toRunnable(module: string): string {
  if (!module.endsWith('.ts') || existsSync(fileURLToPath(module))) return module;
  return `${module.slice(0, -'.ts'.length)}.js`;
}
