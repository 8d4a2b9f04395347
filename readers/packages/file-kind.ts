import type { Ecosystem } from './locked-package.ts';

export interface FileKind {
  readonly id: FileKindId;
  readonly ecosystem: Ecosystem;
  /**
   * `metadata` says what a vendored package is; `config` says where packages come from, without naming what the project
   * consists of; `unread` is known to name dependencies and cannot be read.
   */
  readonly role: 'manifest' | 'lockfile' | 'metadata' | 'config' | 'unread';
}

export type FileKindId =
  | 'package.json'
  | 'package-lock.json'
  | 'pnpm-lock.yaml'
  | 'yarn.lock'
  | 'bun.lock'
  | 'installed-package.json'
  | 'requirements.txt'
  | 'constraints.txt'
  | 'pyproject.toml'
  | 'poetry.lock'
  | 'uv.lock'
  | 'pdm.lock'
  | 'Pipfile'
  | 'Pipfile.lock'
  | 'Cargo.toml'
  | 'Cargo.lock'
  | 'vendored-Cargo.toml'
  | 'go.mod'
  | 'go.sum'
  | 'pom.xml'
  | 'build.gradle'
  | 'gradle.lockfile'
  | 'libs.versions.toml'
  | 'Gemfile'
  | 'Gemfile.lock'
  | 'composer.json'
  | 'composer.lock'
  | 'setup.cfg'
  | 'setup.py'
  | 'extensions.xml'
  | '.npmrc'
  | '.yarnrc'
  | '.yarnrc.yml'
  | 'bunfig.toml'
  | 'pnpm-workspace.yaml'
  | 'pip.conf'
  | 'uv.toml'
  | 'environment.yml'
  | 'cargo-config'
  | 'settings.xml'
  | 'maven.config'
  | 'java.properties'
  | 'bundle-config'
  | 'unread';

const kind = (id: FileKindId, ecosystem: Ecosystem, role: FileKind['role']): FileKind => ({
  id,
  ecosystem,
  role,
});

const byName: Readonly<Record<string, FileKind>> = {
  'package.json': kind('package.json', 'npm', 'manifest'),
  'package-lock.json': kind('package-lock.json', 'npm', 'lockfile'),
  'npm-shrinkwrap.json': kind('package-lock.json', 'npm', 'lockfile'),
  'pnpm-lock.yaml': kind('pnpm-lock.yaml', 'npm', 'lockfile'),
  'yarn.lock': kind('yarn.lock', 'npm', 'lockfile'),
  'bun.lock': kind('bun.lock', 'npm', 'lockfile'),
  'bun.lockb': kind('unread', 'npm', 'unread'),
  'deno.lock': kind('unread', 'npm', 'unread'),
  'pyproject.toml': kind('pyproject.toml', 'pypi', 'manifest'),
  'poetry.lock': kind('poetry.lock', 'pypi', 'lockfile'),
  'uv.lock': kind('uv.lock', 'pypi', 'lockfile'),
  'pdm.lock': kind('pdm.lock', 'pypi', 'lockfile'),
  'pylock.toml': kind('unread', 'pypi', 'unread'),
  Pipfile: kind('Pipfile', 'pypi', 'manifest'),
  'Pipfile.lock': kind('Pipfile.lock', 'pypi', 'lockfile'),
  'Cargo.toml': kind('Cargo.toml', 'cargo', 'manifest'),
  'Cargo.lock': kind('Cargo.lock', 'cargo', 'lockfile'),
  'go.mod': kind('go.mod', 'go', 'manifest'),
  'go.sum': kind('go.sum', 'go', 'lockfile'),
  'go.work': kind('unread', 'go', 'unread'),
  'pom.xml': kind('pom.xml', 'maven', 'manifest'),
  'build.gradle': kind('build.gradle', 'maven', 'manifest'),
  'build.gradle.kts': kind('build.gradle', 'maven', 'manifest'),
  'gradle.lockfile': kind('gradle.lockfile', 'maven', 'lockfile'),
  'buildscript-gradle.lockfile': kind('gradle.lockfile', 'maven', 'lockfile'),
  Gemfile: kind('Gemfile', 'rubygems', 'manifest'),
  'gems.rb': kind('Gemfile', 'rubygems', 'manifest'),
  'Gemfile.lock': kind('Gemfile.lock', 'rubygems', 'lockfile'),
  'gems.locked': kind('Gemfile.lock', 'rubygems', 'lockfile'),
  'composer.json': kind('composer.json', 'packagist', 'manifest'),
  'composer.lock': kind('composer.lock', 'packagist', 'lockfile'),
  'setup.cfg': kind('setup.cfg', 'pypi', 'manifest'),
  'setup.py': kind('setup.py', 'pypi', 'manifest'),
  '.npmrc': kind('.npmrc', 'npm', 'config'),
  '.yarnrc': kind('.yarnrc', 'npm', 'config'),
  '.yarnrc.yml': kind('.yarnrc.yml', 'npm', 'config'),
  'bunfig.toml': kind('bunfig.toml', 'npm', 'config'),
  'pnpm-workspace.yaml': kind('pnpm-workspace.yaml', 'npm', 'config'),
  '.pnpmfile.cjs': kind('unread', 'npm', 'config'),
  '.pnpmfile.mjs': kind('unread', 'npm', 'config'),
  'pip.conf': kind('pip.conf', 'pypi', 'config'),
  'pip.ini': kind('pip.conf', 'pypi', 'config'),
  'uv.toml': kind('uv.toml', 'pypi', 'config'),
  'gradle.properties': kind('java.properties', 'maven', 'config'),
  'gradle-wrapper.properties': kind('java.properties', 'maven', 'config'),
  'maven-wrapper.properties': kind('java.properties', 'maven', 'config'),
};

/** Kinds that only their directory makes what they are. */
const byPlace: Readonly<Record<string, FileKind>> = {
  '.cargo/config': kind('cargo-config', 'cargo', 'config'),
  '.cargo/config.toml': kind('cargo-config', 'cargo', 'config'),
  '.mvn/extensions.xml': kind('extensions.xml', 'maven', 'manifest'),
  '.mvn/maven.config': kind('maven.config', 'maven', 'config'),
  '.mvn/jvm.config': kind('maven.config', 'maven', 'config'),
  '.bundle/config': kind('bundle-config', 'rubygems', 'config'),
};

/**
 * Files of ecosystems that are not read: a change to one is reported, never passed over. The ecosystem of these says
 * nothing.
 */
const unreadName =
  /^(?:[\w.-]+\.(?:csproj|fsproj|vbproj)|packages\.lock\.json|packages\.config|Directory\.Packages\.props|mix\.(?:exs|lock)|Package\.(?:swift|resolved)|Podfile(?:\.lock)?|pubspec\.(?:yaml|lock)|conan\.lock|conanfile\.(?:py|txt)|vcpkg\.json|package\.(?:yaml|json5)|pylock\.[\w-]+\.toml)$/;
const unread = kind('unread', 'npm', 'unread');

/**
 * What kind of dependency file a repository path is; `undefined` for none. Installed packages say what they are, and
 * ask for nothing.
 */
export function fileKind(path: string): FileKind | undefined {
  const segments = path.split('/');
  const name = segments.at(-1) ?? '';
  const installed = segments.lastIndexOf('node_modules', segments.length - 2);
  if (installed !== -1) {
    const below = segments.length - 1 - installed;
    const isScoped = segments[installed + 1]?.startsWith('@') === true;
    return name === 'package.json' && below === (isScoped ? 3 : 2)
      ? kind('installed-package.json', 'npm', 'metadata')
      : undefined;
  }
  if (name === 'Cargo.toml' && segments.at(-3) === 'vendor')
    return kind('vendored-Cargo.toml', 'cargo', 'metadata');
  const place = `${segments.at(-2) ?? ''}/${name}`;
  if (Object.hasOwn(byPlace, place)) return byPlace[place];
  if (Object.hasOwn(byName, name)) return byName[name];
  if (/^[\w.-]*settings[\w.-]*\.xml$/.test(name)) return kind('settings.xml', 'maven', 'config');
  if (/^[\w.-]*environment[\w.-]*\.ya?ml$/.test(name)) return kind('environment.yml', 'pypi', 'config');
  if (name.endsWith('.versions.toml')) return kind('libs.versions.toml', 'maven', 'manifest');
  // Gradle applies scripts of any name, Bundler takes any Gemfile that it is told.
  if (/\.gradle(?:\.kts)?$/.test(name)) return kind('build.gradle', 'maven', 'manifest');
  if (/^Gemfile\.(?!lock$)[\w-]+$|\.gemfile$/.test(name)) return kind('Gemfile', 'rubygems', 'manifest');
  if (name.endsWith('.gemspec')) return kind('Gemfile', 'rubygems', 'manifest');
  if (/^constraints[\w.-]*\.(?:txt|in)$/.test(name)) return kind('constraints.txt', 'pypi', 'manifest');
  const isRequirements =
    /requirements[\w.-]*\.(?:txt|in|pip)$/.test(name) ||
    (/\.(?:txt|in)$/.test(name) && /^requirements?$/.test(segments.at(-2) ?? ''));
  if (isRequirements) return kind('requirements.txt', 'pypi', 'manifest');
  return unreadName.test(name) ? unread : undefined;
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
 * A manifest, a lockfile, what a vendored package says of itself, or a file of that sort that cannot be read; none that
 * only says where from.
 */
export function isDependencyFile(path: string): boolean {
  const found = fileKind(path);
  return found !== undefined && found.role !== 'config';
}
