/* Compiles the published package: dist/ with JavaScript, declarations, and the data files that sources load by URL. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

rmSync('dist', { recursive: true, force: true });
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
const data = globSync(['core/**/*.json', 'core/**/*.gen.js', 'bin/**/*.json', 'gates/**/*.json', 'fixtures/demo/**/*', 'fixtures/demo/**/.*']);
for (const file of data) {
  mkdirSync(dirname(join('dist', file)), { recursive: true });
  cpSync(file, join('dist', file), { recursive: true });
}
