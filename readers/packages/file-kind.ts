/* Recognises dependency files by their paths. */
import type { Ecosystem } from './locked-package.ts';

export interface FileKind {
  readonly id: FileKindId;
  readonly ecosystem: Ecosystem;
  /**
   * `metadata` describes a vendored package. `config` names package sources but no dependencies. `unread` names
   * dependencies in a format that writ cannot read.
   */
  readonly role: 'manifest' | 'lockfile' | 'metadata' | 'config' | 'unread';
}

/** The last word of a row below. */
export type FileKindId =
  | LastWord<(typeof byName)[keyof typeof byName] | (typeof byPlace)[keyof typeof byPlace]>
  | LastWord<(typeof others)[number][1]>;
type LastWord<Text> = Text extends `${string} ${string} ${infer Id}` ? Id : never;

const byName = {
  'package.json': 'npm manifest package.json',
  'package-lock.json': 'npm lockfile package-lock.json',
  'npm-shrinkwrap.json': 'npm lockfile package-lock.json',
  'pnpm-lock.yaml': 'npm lockfile pnpm-lock.yaml',
  'yarn.lock': 'npm lockfile yarn.lock',
  'bun.lock': 'npm lockfile bun.lock',
  'bun.lockb': 'npm unread unread',
  'deno.lock': 'npm unread unread',
  'pyproject.toml': 'pypi manifest pyproject.toml',
  'poetry.lock': 'pypi lockfile poetry.lock',
  'uv.lock': 'pypi lockfile uv.lock',
  'pdm.lock': 'pypi lockfile pdm.lock',
  'pylock.toml': 'pypi unread unread',
  Pipfile: 'pypi manifest Pipfile',
  'Pipfile.lock': 'pypi lockfile Pipfile.lock',
  'Cargo.toml': 'cargo manifest Cargo.toml',
  'Cargo.lock': 'cargo lockfile Cargo.lock',
  'go.mod': 'go manifest go.mod',
  'go.sum': 'go lockfile go.sum',
  'go.work': 'go unread unread',
  'pom.xml': 'maven manifest pom.xml',
  'build.gradle': 'maven manifest build.gradle',
  'build.gradle.kts': 'maven manifest build.gradle',
  'gradle.lockfile': 'maven lockfile gradle.lockfile',
  'buildscript-gradle.lockfile': 'maven lockfile gradle.lockfile',
  Gemfile: 'rubygems manifest Gemfile',
  'gems.rb': 'rubygems manifest Gemfile',
  'Gemfile.lock': 'rubygems lockfile Gemfile.lock',
  'gems.locked': 'rubygems lockfile Gemfile.lock',
  'composer.json': 'packagist manifest composer.json',
  'composer.lock': 'packagist lockfile composer.lock',
  'setup.cfg': 'pypi manifest setup.cfg',
  'setup.py': 'pypi manifest setup.py',
  '.npmrc': 'npm config .npmrc',
  '.yarnrc': 'npm config .yarnrc',
  '.yarnrc.yml': 'npm config .yarnrc.yml',
  'bunfig.toml': 'npm config bunfig.toml',
  'pnpm-workspace.yaml': 'npm config pnpm-workspace.yaml',
  '.pnpmfile.cjs': 'npm config unread',
  '.pnpmfile.mjs': 'npm config unread',
  'pip.conf': 'pypi config pip.conf',
  'pip.ini': 'pypi config pip.conf',
  'uv.toml': 'pypi config uv.toml',
  'gradle.properties': 'maven config java.properties',
  'gradle-wrapper.properties': 'maven config java.properties',
  'maven-wrapper.properties': 'maven config java.properties',
} as const;

/** Kinds that only their directory makes what they are. */
const byPlace = {
  '.cargo/config': 'cargo config cargo-config',
  '.cargo/config.toml': 'cargo config cargo-config',
  '.mvn/extensions.xml': 'maven manifest extensions.xml',
  '.mvn/maven.config': 'maven config maven.config',
  '.mvn/jvm.config': 'maven config maven.config',
  '.bundle/config': 'rubygems config bundle-config',
} as const;

/**
 * Files of ecosystems that writ does not read: a change to one is reported, never skipped. The ecosystem listed for
 * them has no significance.
 */
const unreadName =
  /^(?:[\w.-]+\.(?:csproj|fsproj|vbproj)|packages\.lock\.json|packages\.config|Directory\.Packages\.props|mix\.(?:exs|lock)|Package\.(?:swift|resolved)|Podfile(?:\.lock)?|pubspec\.(?:yaml|lock)|conan\.lock|conanfile\.(?:py|txt)|vcpkg\.json|package\.(?:yaml|json5)|pylock\.[\w-]+\.toml)$/;

/** Gradle applies scripts of any name, and Bundler accepts any Gemfile that it is given. */
const others = [
  [/^[\w.-]*settings[\w.-]*\.xml$/, 'maven config settings.xml'],
  [/^[\w.-]*environment[\w.-]*\.ya?ml$/, 'pypi config environment.yml'],
  [/\.versions\.toml$/, 'maven manifest libs.versions.toml'],
  [/\.gradle(?:\.kts)?$/, 'maven manifest build.gradle'],
  [/^Gemfile\.(?!lock$)[\w-]+$|\.(?:gemfile|gemspec)$/, 'rubygems manifest Gemfile'],
  [/^constraints[\w.-]*\.(?:txt|in)$/, 'pypi manifest constraints.txt'],
  [/requirements[\w.-]*\.(?:txt|in|pip)$/, 'pypi manifest requirements.txt'],
  [unreadName, 'npm unread unread'],
  // `fileKind` detects these by more than the name, so these patterns never match.
  [/^(?!)/, 'npm metadata installed-package.json'],
  [/^(?!)/, 'cargo metadata vendored-Cargo.toml'],
] as const;

/**
 * Returns the kind of the dependency file at a repository path; `undefined` if it is not one. An installed package is
 * metadata: it describes itself and requires no package.
 */
export function fileKind(path: string): FileKind | undefined {
  const segments = path.split('/');
  const name = segments.at(-1) ?? '';
  const installed = segments.lastIndexOf('node_modules', segments.length - 2);
  if (installed !== -1) {
    const below = segments.length - 1 - installed;
    const isScoped = segments[installed + 1]?.startsWith('@') === true;
    return name === 'package.json' && below === (isScoped ? 3 : 2)
      ? toKind('npm metadata installed-package.json')
      : undefined;
  }
  if (name === 'Cargo.toml' && segments.at(-3) === 'vendor')
    return toKind('cargo metadata vendored-Cargo.toml');
  const rows: ReadonlyMap<string, string> = kinds;
  const row =
    rows.get(`${segments.at(-2) ?? ''}/${name}`) ??
    rows.get(name) ??
    others.find(([pattern]) => pattern.test(name))?.[1];
  if (row !== undefined) return toKind(row);
  return /\.(?:txt|in)$/.test(name) && /^requirements?$/.test(segments.at(-2) ?? '')
    ? toKind('pypi manifest requirements.txt')
    : undefined;
}

const kinds = new Map(Object.entries({ ...byPlace, ...byName }));

function toKind(row: string): FileKind {
  const [ecosystem, role, id] = row.split(' ') as [FileKind['ecosystem'], FileKind['role'], FileKindId];
  return { id, ecosystem, role };
}

/**
 * Globs that match at least every path with a kind, and whatever a requirements file may include, for a rule's `reads`.
 */
export const dependencyFileGlobs: readonly string[] = [
  ...Object.keys(byName).map((name) => `**/${name}`),
  ...Object.keys(byPlace).map((place) => `**/${place}`),
  '**/*settings*.xml',
  '**/*environment*.{yml,yaml}',
  '**/*.versions.toml',
  '**/*requirements*.pip',
  '**/*.{txt,in}',
  '**/*.{csproj,fsproj,vbproj,gemspec,gradle,gradle.kts,gemfile}',
  '**/Gemfile.*',
  '**/{package.yaml,package.json5,pylock.*.toml}',
  '**/{packages.lock.json,packages.config,Directory.Packages.props,mix.exs,mix.lock,Package.swift,Package.resolved}',
  '**/{Podfile,Podfile.lock,pubspec.yaml,pubspec.lock,conan.lock,conanfile.py,conanfile.txt,vcpkg.json}',
];

/**
 * Whether a path is a manifest, a lockfile, metadata of a vendored package, or such a file that writ cannot read. A
 * file that only names package sources is not one.
 */
export function isDependencyFile(path: string): boolean {
  const found = fileKind(path);
  return found !== undefined && found.role !== 'config';
}
