/* Compiles the published package: dist/ with JavaScript, declarations, and the data files that programs load by URL. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type BuildOptions, build, type Plugin, transformSync } from 'esbuild';
import { modulesOfNode, takeFromNode } from './build/modules-of-node.ts';
import { writeCommit } from './build/write-commit.ts';

rmSync('dist', { recursive: true, force: true });
// Tests pack sources that `npm run check` has checked: half of what compiling costs is saved.
const unchecked = process.env.WRIT_BUILD_UNCHECKED === '1' ? ['--noCheck'] : [];
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json', ...unchecked], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
const data = globSync([
  '{core,spec,workspace,engine,readers}/**/*.json',
  '{core,spec,workspace,engine,readers}/**/*.gen.js',
  'fixtures/demo/**/*',
  'fixtures/demo/**/.*',
]);
for (const file of data) {
  mkdirSync(dirname(join('dist', file)), { recursive: true });
  cpSync(file, join('dist', file), { recursive: true });
}

const dist = resolve('dist');
const toUrl = (path: string): string => path.split(sep).join('/');

/**
 * Wherever a module's text is put, it keeps its own address: what it loads by URL lies beside the place where it was
 * written.
 */
const ownAddress: Plugin = {
  name: 'own-address',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (!path.startsWith(dist + sep)) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const { code } = transformSync(text, { define: { 'import.meta.url': 'ownUrl' } });
      return { contents: `const ownUrl = addressOf("${toUrl(relative(dist, path))}");\n${code}` };
    });
  },
};

/** What hashes in a validation, which hashes one short text: `node:crypto` is then not loaded. */
const shortHash: Plugin = {
  name: 'short-hash',
  setup({ initialOptions, onResolve }) {
    const [entry] = initialOptions.entryPoints as readonly string[];
    onResolve({ filter: /^node:crypto$/ }, ({ importer }) =>
      entry?.endsWith('validate-alone.js') === true && importer === join(dist, 'core/base/digest.js')
        ? { path: join(dist, 'bin/command-parts/short-hash.js') }
        : undefined,
    );
  },
};

/** A module of CommonJS that is folded requires a built-in, and what is folded is none. */
const builtInRequired: Plugin = {
  name: 'built-in-required',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, kind }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'built-in' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * Small modules without a build of their own, used by nearly every command. All others stay packages, loaded where they
 * are needed.
 */
const foldedPackages = ['cac', 'smol-toml', 'spdx-expression-parse', 'tapable', 'unbash', 'zod'];
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

/**
 * A thousand modules become a few files: finding and linking them was a third of a run's time. Each program is folded
 * by itself, so that what its parts share (the error class) is one thing in it, and a thread loads nothing of the
 * command line. Answers text by path.
 */
async function fold(
  options: BuildOptions,
  whenCalled: readonly string[] = [],
): Promise<readonly (readonly [string, string])[]> {
  const { outputFiles } = await build({
    splitting: true,
    ...options,
    plugins: [...(options.plugins ?? []), ownAddress, modulesOfNode, builtInRequired],
    outdir: 'dist',
    outbase: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: Object.keys(dependencies).filter((name) => !foldedPackages.includes(name)),
    legalComments: 'inline',
    logLevel: 'warning',
    write: false,
  });
  return outputFiles.map(({ path, text }) => {
    const addressed = takeFromNode(text, whenCalled).replaceAll(
      /addressOf\("([^"]+)"\)/g,
      (_call, own: string) => {
        const place = toUrl(relative(dirname(path), join(dist, own)));
        return `new URL("${place}", import.meta.url).href`;
      },
    );
    return [path, withoutSpace(addressed)];
  });
}

/** What a part that esbuild runs when it is first asked for begins with, and the same noting in `ran` that it did. */
const partBegins = '(fn,res,err)=>function __init(){';
const partNotes = '(fn,res,err,__part=__parts++)=>function __init(){if(fn)__ran[__part]=1;';

/**
 * A folded module as CommonJS, strict as it was. The launcher reads in `module.ran` which of its parts have run, to
 * keep compiled code anew where some did that had not before, and loads what is imported: a script has no `import` of
 * its own.
 */
function toScript(text: string): string {
  const { code } = transformSync(text, {
    minifyWhitespace: true,
    lineLimit: 120,
    charset: 'ascii',
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    define: { 'import.meta.url': '__ownUrl' },
    legalComments: 'inline',
  });
  if (code.split(partBegins).length !== 2)
    throw new Error('the parts of a folded file begin in a way that is not known');
  const head = [
    '"use strict";var __parts=0,__ran=module.ran??=[]',
    '__ownUrl=process.getBuiltinModule("node:url").pathToFileURL(__filename).href',
    '__load=module.loadBeside??(place=>import(place));',
  ].join(',');
  return head + code.replace(partBegins, partNotes).replaceAll(/\bimport\(("[^"]+")\)/g, '__load($1)');
}

/**
 * Without comments and indentation, every name as it was: a function is compiled out of its text when it is first
 * called. In ASCII as far as expressions allow: such a text is half as large in memory.
 */
function withoutSpace(text: string): string {
  return transformSync(text, {
    minifyWhitespace: true,
    lineLimit: 120,
    charset: 'ascii',
    format: 'esm',
    target: 'node22',
    legalComments: 'inline',
  }).code;
}

/**
 * Commands of one file each, by their module: finding modules would be most of their time. CommonJS, so that the
 * launcher can keep what was compiled while they ran.
 */
const alone: Readonly<Record<string, string>> = {
  'commands/verify.js': 'verify-alone.cjs',
  'commands/spec-validate.js': 'validate-alone.cjs',
};
/** They are folded as modules and become CommonJS at the end. */
const toModule = (file: string): string => file.replace(/\.cjs$/, '.js');
const wholeFiles = [...Object.values(alone).map((file) => `dist/bin/${toModule(file)}`), 'dist/verify.js'];
/** What such a file may end without: `node:fs/promises` can read lines of a terminal, `node:crypto` has streams. */
const notAtOnce = ['node:crypto', 'node:fs/promises'];
const running = ['run', 'resume'].map((name) => `dist/bin/commands/${name}.js`);
const commandsApart: Plugin = {
  name: 'commands-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/commands\/(?:verify|spec-validate|run|resume)\.js$/ }, ({ path, kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      const command = path.slice(path.indexOf('commands/'));
      return {
        path: `./${alone[command] ?? command}`,
        external: true,
      };
    });
  },
};

/** What such a file is started for is no other command: none of those is ever asked for, and none is in it. */
const noOtherCommand: Plugin = {
  name: 'no-other-command',
  setup({ initialOptions, onResolve }) {
    const [entry] = initialOptions.entryPoints as readonly string[];
    onResolve({ filter: /\/commands\/[^/]+\.js$/ }, ({ path, kind }) => {
      const own = alone[path.slice(path.indexOf('commands/'))];
      const isOwn = own !== undefined && entry?.endsWith(toModule(own));
      return kind === 'dynamic-import' && !isOwn ? { path, external: true } : undefined;
    });
  },
};

/**
 * What few contracts, and no validation, ask for, in files of its own: a text is read to its end before anything of it
 * runs. What such a file and whoever loads it both hold are values, faults (known by their brand) and the git that is
 * kept for a place, of which there may then be a second.
 */
const seldomLoaded = [
  'workspace/command-acl/acl.js',
  'spec/secret-words.js',
  'engine/context/import-graph.js',
  'plugins/store/external-local-store.js',
  'plugins/store/write-git-native.js',
];
const seldomApart: Plugin = {
  name: 'seldom-apart',
  setup({ initialOptions, onResolve }) {
    const [entry = ''] = initialOptions.entryPoints as readonly string[];
    onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, kind, resolveDir }) => {
      const file = resolve(resolveDir, path);
      if (kind !== 'dynamic-import' || !seldomLoaded.includes(toUrl(relative(dist, file)))) return undefined;
      const place = toUrl(relative(dirname(resolve(entry)), file));
      return { path: place.startsWith('.') ? place : `./${place}`, external: true };
    });
  },
};

const folded = [
  ...(await fold({
    entryPoints: [
      'dist/bin/main.js',
      'dist/index.js',
      'dist/plugin.js',
      'dist/testing.js',
      'dist/plugins/testers/store-writer.js',
    ],
    chunkNames: 'bin/part-[hash]',
    plugins: [commandsApart],
  })),
  // A part is what the same programs need: beside all other commands a run would be two hundred small files.
  ...(await fold({ entryPoints: running, chunkNames: 'bin/run-[hash]' })),
  ...(
    await Promise.all(
      wholeFiles.map((path) =>
        fold(
          { entryPoints: [path], splitting: false, plugins: [noOtherCommand, seldomApart, shortHash] },
          notAtOnce,
        ),
      ),
    )
  ).flat(),
  ...(await fold({
    entryPoints: seldomLoaded.map((file) => `dist/${file}`),
    chunkNames: 'bin/seldom-[hash]',
  })),
  // A thread of the pool loads tasks and rules by their address.
  ...(await fold({
    entryPoints: [
      'dist/core/kernel/worker/entry.js',
      ...globSync('dist/**/*-in-thread.js'),
      ...globSync('dist/gates/rules/*.js'),
      ...globSync('dist/plugins/policy-engines/{cedar,cel,rego}.js'),
    ],
    chunkNames: 'core/kernel/worker/part-[hash]',
  })),
];
// What runs in the sandbox stays as it was compiled: its directory is mounted there, and nothing else of ours.
for (const file of globSync('dist/**/*.js', {
  exclude: ['dist/plugins/third-party/{rule/outside,process/inside}/**', 'dist/fixtures/**'],
}))
  rmSync(file);
const scripts = new Map(Object.values(alone).map((file) => [resolve('dist/bin', toModule(file)), file]));
for (const [path, text] of folded) {
  const script = scripts.get(path);
  mkdirSync(dirname(path), { recursive: true });
  if (script === undefined) writeFileSync(path, text);
  else writeFileSync(resolve('dist/bin', script), toScript(text));
}
writeCommit('dist/build.json');
