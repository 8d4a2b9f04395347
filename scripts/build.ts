/* Compiles the published package: dist/ with JavaScript, declarations, and the data files that sources load by URL. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
const data = globSync([
  '{core,engine,readers}/**/*.json',
  '{core,engine,readers}/**/*.gen.js',
  'fixtures/demo/**/*',
  'fixtures/demo/**/.*',
]);
for (const file of data) {
  mkdirSync(dirname(join('dist', file)), { recursive: true });
  cpSync(file, join('dist', file), { recursive: true });
}

/**
 * What starts often is folded into few files: half of a short command's time is finding modules. Left apart: the error
 * class (one identity everywhere), and every command but the short ones about contracts: they load resources beside their own modules
 * (workers, rules, demo files).
 */
const apart: Plugin = {
  name: 'apart',
  setup({ onResolve }) {
    const folded = /\/commands\/(?:spec-(?:new|validate|digest|canonical|schema)|schema)\.js$/;
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const target = resolve(resolveDir, path);
      const isApart = target.includes('/bin/commands/') && !folded.test(target);
      if (!isApart && !target.endsWith('/core/base/errors.js')) return undefined;
      const from = relative(resolve('dist/bin'), target);
      return { path: from.startsWith('.') ? from : `./${from}`, external: true };
    });
  },
};
await build({
  entryPoints: ['dist/bin/main.js'],
  outdir: 'dist/bin',
  chunkNames: 'part-[hash]',
  allowOverwrite: true,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  legalComments: 'inline',
  plugins: [apart],
  logLevel: 'warning',
});
