/* Compiles the published package: dist/ with JavaScript, declarations, and the data files that programs load by URL. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type BuildOptions, build, type OutputFile, type Plugin, transformSync } from 'esbuild';
import { writeManPage } from './build/man-page.ts';
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

/** Large modules of Node that a command may do without: their functions load them when they are called. */
const loadedWhenCalled = [
  'child_process',
  'crypto',
  'dgram',
  'dns',
  'dns/promises',
  'fs/promises',
  'http',
  'https',
  'net',
  'readline',
  'stream',
  'timers/promises',
  'tls',
  'v8',
  'worker_threads',
  'zlib',
].map((name) => `node:${name}`);

/**
 * A module of Node whose exports are taken one by one, so that esbuild leaves out those that are not used. `import`
 * makes Node read every property that the module has, and some load more of Node (web streams, a REPL's history).
 */
function builtInModule(name: string): string {
  const module = process.getBuiltinModule(name) as Readonly<Record<string, unknown>>;
  const isLate = loadedWhenCalled.includes(name);
  const lines = Object.keys(module).map((key) => {
    const isFunction = typeof module[key] === 'function' && /^[a-z]/.test(key);
    return isLate && isFunction
      ? `const late_${key} = (...given) => it().${key}(...given); export { late_${key} as ${key} };`
      : `const own_${key} = /* @__PURE__ */ (() => it().${key})(); export { own_${key} as ${key} };`;
  });
  const own = `const it = () => process.getBuiltinModule(${JSON.stringify(name)});`;
  return [
    own,
    ...lines.filter((line) => !line.includes(' as default ')),
    'export default /* @__PURE__ */ it();',
  ].join('\n');
}

const builtIns: Plugin = {
  name: 'built-ins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, kind }) => {
      if (!isBuiltin(path) || kind === 'dynamic-import') return undefined;
      return { path, namespace: kind === 'require-call' ? 'required' : 'imported', sideEffects: false };
    });
    onLoad({ filter: /./, namespace: 'imported' }, ({ path }) => ({ contents: builtInModule(path) }));
    // In a package of CommonJS that is folded.
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * Wherever a module's text is put, it keeps its own address: what it loads by URL lies beside the place where it was
 * written.
 */
const ownAddress: Plugin = {
  name: 'own-address',
  setup({ initialOptions, onLoad }) {
    const own =
      initialOptions.format === 'cjs'
        ? 'process.getBuiltinModule("node:url").pathToFileURL(__filename).href'
        : 'import.meta.url';
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (!path.startsWith(dist + sep)) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const { code } = transformSync(text, { define: { 'import.meta.url': 'ownUrl' } });
      const place = JSON.stringify(toUrl(relative(dist, path)));
      return { contents: `const ownUrl = ${own}.replace(/(.*\\/dist\\/).*/s, "$1") + ${place};\n${code}` };
    });
  },
};

/**
 * Small modules without a build of their own, used by nearly every command. All others stay packages, loaded where they
 * are needed.
 */
const foldedPackages = ['cac', 'smol-toml', 'spdx-expression-parse', 'tapable', 'unbash', 'zod'];
const { dependencies, bin, files } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
};

/**
 * A thousand modules become a few files: finding and linking them was a third of a run's time. Each program is folded
 * by itself, so that what its parts share (the error class) is one thing in it, and a thread loads nothing of the
 * command line. Every name stays as it was, for stack traces.
 */
async function fold(options: BuildOptions): Promise<readonly OutputFile[]> {
  const { outputFiles } = await build({
    splitting: true,
    format: 'esm',
    ...options,
    plugins: [...(options.plugins ?? []), ownAddress, builtIns],
    outdir: 'dist',
    outbase: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node22',
    minifyWhitespace: true,
    lineLimit: 120,
    charset: 'ascii',
    external: Object.keys(dependencies).filter((name) => !foldedPackages.includes(name)),
    legalComments: 'inline',
    logLevel: 'warning',
    write: false,
  });
  return outputFiles;
}

/**
 * Commands of one file each, by their module: finding modules would be most of their time. The launcher starts the file
 * if the command is the first word; otherwise the main program imports the command from it.
 */
const alone: Readonly<Record<string, string>> = {
  'commands/verify.js': 'verify-alone',
  'commands/spec-validate.js': 'validate-alone',
  'commands/run.js': 'run-alone',
  'commands/seal.js': 'run-alone',
  'commands/resume.js': 'run-alone',
  'commands/code.js': 'code-alone',
};
for (const name of new Set(Object.values(alone))) {
  const modules = Object.keys(alone).filter((module) => alone[module] === name);
  const lines = [
    ...modules.map((module) => `export * from './${module}';`),
    `export { main } from './main.js';`,
  ];
  writeFileSync(`dist/bin/${name}.js`, `${lines.join('\n')}\n`);
}
const wholeFiles = [...new Set([...Object.values(alone), 'version-alone'])].map(
  (name) => `dist/bin/${name}.js`,
);
/** Where a program below `dist/bin` finds the module of a command. */
function placeOf(path: string): string {
  const command = path.slice(path.indexOf('commands/'));
  return `./${command in alone ? `${alone[command]}.cjs` : command}`;
}

const commandsApart: Plugin = {
  name: 'commands-apart',
  setup({ onResolve }) {
    onResolve(
      { filter: /\/commands\/(?:verify|spec-validate|run|seal|resume|code)\.js$/ },
      ({ path, kind }) => {
        if (kind !== 'dynamic-import') return undefined;
        return { path: placeOf(path), external: true };
      },
    );
  },
};

/**
 * Such a file is started for one command. The others of the command table are not in it, except the queue, which
 * `run --queue` goes through: it loads them as the main program does. A command that another module loads is in it as
 * any module.
 */
const noOtherCommand: Plugin = {
  name: 'no-other-command',
  setup({ initialOptions, onResolve }) {
    const [entry] = initialOptions.entryPoints as readonly string[];
    onResolve({ filter: /\/commands\/[^/]+\.js$/ }, ({ path, kind, importer }) => {
      if (kind !== 'dynamic-import' || !dirname(importer).endsWith('command-table')) return undefined;
      const own = alone[path.slice(path.indexOf('commands/'))];
      const isQueue = path.endsWith('/queue.js') && entry?.endsWith('/run-alone.js');
      const isOwn = isQueue || (own !== undefined && entry?.endsWith(`${own}.js`));
      return isOwn ? undefined : { path: placeOf(path), external: true };
    });
  },
};

/**
 * `require` of an ES module gives its namespace, and esbuild takes that for the default export. Such a package that is
 * imported by its default has to be listed here.
 */
const defaultOfModule: Plugin = {
  name: 'default-of-module',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^string-width$/ }, ({ path, namespace }) =>
      namespace === 'module' ? { path, external: true } : { path, namespace: 'module' },
    );
    onLoad({ filter: /^/, namespace: 'module' }, ({ path }) => ({
      contents: `export default require(${JSON.stringify(path)}).default;`,
    }));
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
      ...['dist/bin/main.js', 'dist/index.js', 'dist/plugin.js', 'dist/testing.js'],
      // Each at a place of its own, where the files of single commands find it.
      ...globSync('dist/bin/commands/*.js', {
        exclude: Object.keys(alone).map((path) => `dist/bin/${path}`),
      }),
    ],
    chunkNames: 'bin/part-[hash]',
    plugins: [commandsApart],
  })),
  ...(
    await Promise.all(
      wholeFiles.map((path) =>
        fold({
          entryPoints: [path],
          splitting: false,
          format: 'cjs',
          outExtension: { '.js': '.cjs' },
          plugins: [
            noOtherCommand,
            defaultOfModule,
            ...(/\/(?:run|code)-alone\.js$/.test(path) ? [] : [seldomApart]),
          ],
        }),
      ),
    )
  ).flat(),
  ...(await fold({
    entryPoints: ['dist/verify.js'],
    splitting: false,
    plugins: [noOtherCommand, seldomApart],
  })),
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
for (const { path, contents } of folded) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}
writeCommit('dist/build.json');
writeManPage('dist/man');

// npm packs files with their modes: without the umask of this process, two builds of one commit give the same bytes.
const packed = ['package.json', 'README.md', 'LICENSE', ...files];
for (const path of packed.flatMap((name) => [name, ...globSync(`${name}/**/*`)]))
  if (statSync(path).isFile()) chmodSync(path, Object.values(bin).includes(path) ? 0o755 : 0o644);
