import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Lays the compiled package out as it is published (no sources beside it) and answers its launcher. */
export function stagePackage(): string {
  const root = mkdtempSync(join(tmpdir(), 'writ-package-'));
  for (const name of ['package.json', 'dist', 'bin/writ.js'])
    cpSync(name, join(root, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  return join(root, 'bin', 'writ.js');
}
