import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Converts a module's file URL to a runnable one. Modules are named by source file (`./rule.ts`); in the compiled
 * package the `.js` file beside it is used.
 */
export function toRunnable(module: string): string {
  if (!module.endsWith('.ts') || existsSync(fileURLToPath(module))) return module;
  return `${module.slice(0, -'.ts'.length)}.js`;
}
