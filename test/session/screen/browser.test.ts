import { globSync } from 'node:fs';
import { build } from 'esbuild';
import t from 'tap';

t.test('every file of session/screen bundles for a browser without imports from Node', async (t) => {
  const root = new URL('../../..', import.meta.url).pathname;
  const files = globSync('session/screen/**/*.ts', { cwd: root });
  t.ok(files.length > 10, `${files.length} files`);
  const { metafile, errors } = await build({
    absWorkingDir: root,
    entryPoints: files,
    outdir: 'out',
    bundle: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
    logLevel: 'silent',
    tsconfigRaw: { compilerOptions: {} },
  });
  t.strictSame(errors, []);
  const outside = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external === true).map(({ path }) => path),
  );
  t.strictSame(outside, [], 'nothing is left to whoever runs it');
});
