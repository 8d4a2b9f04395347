import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import t from 'tap';

/**
 * A script of this folder as one file of plain JavaScript: a child that has to strip the types of every module first
 * takes four times as long to start.
 */
export async function bundleScript(name: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, name.replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
  });
  return outfile;
}
