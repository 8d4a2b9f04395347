/* Reads all dependency files of a tree. */
import { readBundleConfig, readGemfile, readGemfileLock } from './bundler.ts';
import { readCargoConfig, readCargoLock, readCargoToml, readVendoredCrate } from './cargo.ts';
import {
  type Content,
  entriesOf,
  isTable,
  jsonContent,
  listOf,
  numberedLines,
  type Table,
  tableOf,
  textContent,
  textOf,
  tomlContent,
  yamlContent,
} from './content.ts';
import { type FileKind, type FileKindId, fileKind } from './file-kind.ts';
import { readGradleBuild, readGradleLockfile, readVersionCatalog } from './jvm/gradle.ts';
import {
  readJavaProperties,
  readMavenExtensions,
  readMavenOptions,
  readMavenSettings,
  readPom,
} from './jvm/maven.ts';
import { fromHex, LockBuilder, type LockEntry, namedTables, purlOf } from './lock-builder.ts';
import { cleanUrl, type DependencyProblem } from './locked-package.ts';
import { readBunfig, readNpmrc, readPnpmWorkspace, readYarnrc, readYarnrcYml } from './npm/npm-config.ts';
import { npmLicense } from './npm/npm-source.ts';
import { readInstalledPackage, readPackageJson } from './npm/package-json.ts';
import { readPackageLock } from './npm/package-lock.ts';
import { readPnpmLock } from './npm/pnpm-lock.ts';
import { jsoncContent, readBunLock, readYarnLock } from './npm/yarn-lock.ts';
import { readPipfile, readPyproject, readSetupPy } from './python/pyproject.ts';
import { readCondaEnvironment, readPipConf, readSetupCfg, readUvSettings } from './python/python-config.ts';
import { readPdmLock, readPipfileLock, readPoetryLock, readUvLock } from './python/python-lock.ts';
import { readRequirements } from './python/requirements.ts';
import {
  directoryOf,
  type FileReading,
  looseWhenOn,
  onByDefault,
  ReadingBuilder,
  readSettings,
  resolvePath,
} from './reading.ts';
import { shownPlace } from './sources/package-source.ts';

/** What composer finds on the machine itself. */
const platform = /^(?:php(?:-[a-z0-9]+)?|hhvm|ext-.+|lib-.+|composer(?:-plugin-api|-runtime-api)?)$/i;

function readComposerJson(root: Table, reading: ReadingBuilder): void {
  for (const [field, scope] of [
    ['require', 'runtime'],
    ['require-dev', 'development'],
  ] as const) {
    // PHP writes an empty table as an empty list.
    const value = listOf(root[field]).length === 0 && !isTable(root[field]) ? undefined : root[field];
    for (const [key, spec, line] of reading.dependenciesIn(field, value))
      if (!platform.test(key))
        reading.declare({
          key,
          name: key.toLowerCase(),
          requirement: String(spec),
          scope,
          field,
          version: /^v?\d+\.\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?$/.exec(String(spec))?.[0],
          line,
        });
  }
  readRepositories(root.repositories, reading);
  readSettings(reading, root, {
    'config.secure-http': onByDefault,
    'config.disable-tls': looseWhenOn,
    'config.cafile': 'place',
    'config.capath': 'place',
    'config.allow-plugins.*': looseWhenOn,
  });
  if (typeof root.name === 'string') reading.local.add(root.name.toLowerCase());
}

/** `repositories`: a list, or a table by name. */
function readRepositories(repositories: unknown, reading: ReadingBuilder): void {
  for (const [name, value] of Object.entries(repositories ?? {})) {
    const entries =
      isTable(value) && typeof value.type !== 'string' ? entriesOf(value) : [[name, value] as const];
    for (const [key, one] of entries) {
      const table = tableOf(one);
      const type = textOf(table.type);
      if (one === false) reading.source('repositories', `without ${key}`);
      else if (type === 'package')
        for (const item of [table.package].flat()) {
          const { name: packageName, dist, source } = tableOf(item);
          for (const place of [dist, source].map((side) => tableOf(side).url))
            reading.source(`repositories package ${textOf(packageName)}`, place);
        }
      else reading.source(type === 'composer' ? 'repositories' : `repositories ${type}`, table.url);
      if (table.canonical === false)
        reading.source('repositories canonical', `not ${shownPlace(textOf(table.url))}`);
    }
  }
}

/**
 * Reads composer.lock. A package without `notification-url` comes from its own repository, not from a package
 * registry.
 */
function readComposerLock(root: Table, reading: ReadingBuilder): void {
  if (!Array.isArray(root.packages)) return void reading.problem('it has no list `packages`');
  const builder = new LockBuilder(reading);
  const development = new Set(listOf(root['packages-dev']));
  for (const [entry, written, line] of namedTables(reading, [...root.packages, ...development])) {
    builder.add(written.toLowerCase(), {
      name: written.toLowerCase(),
      version: textOf(entry.version),
      ...placeOfEntry(entry),
      integrity: fromHex(textOf(tableOf(entry.dist).shasum), 'sha1'),
      license: npmLicense(entry),
      scope: development.has(entry) ? 'development' : 'runtime',
      line,
      asks: Object.keys(tableOf(entry.require)).map((asked) => asked.toLowerCase()),
    });
  }
  builder.finish();
}

function placeOfEntry(entry: Table): Pick<LockEntry, 'source' | 'origin' | 'revision'> {
  const dist = tableOf(entry.dist);
  const source = tableOf(entry.source);
  if (textOf(dist.type) === 'path') return { source: 'path', origin: textOf(dist.url) };
  if (typeof entry['notification-url'] === 'string') return { source: 'registry' };
  const repository = textOf(source.url);
  if (repository !== '')
    return { source: 'git', origin: cleanUrl(repository), revision: textOf(source.reference) };
  const url = cleanUrl(textOf(dist.url));
  return url === '' ? { source: 'registry' } : { source: 'url', origin: url };
}

type Reader = (text: string, reading: ReadingBuilder) => void;
type DocumentReader = (root: Table, reading: ReadingBuilder) => void;

const parsedBy =
  (parse: (text: string) => Content<Table>) =>
  (read: DocumentReader): Reader =>
  (text, reading) => {
    const content = parse(text);
    if ('reason' in content) reading.problem(content.reason);
    else read(content.value, reading);
  };
const json = parsedBy(jsonContent);
const toml = parsedBy(tomlContent);
/** A file with only comments is empty. */
const yaml = parsedBy((text) => (/^[^#\s-]/m.test(text) ? yamlContent(text) : { value: {} }));

const readers: Readonly<Record<Exclude<FileKindId, 'unread'>, Reader>> = {
  'package.json': json(readPackageJson),
  'package-lock.json': json(readPackageLock),
  'pnpm-lock.yaml': readPnpmLock,
  'yarn.lock': readYarnLock,
  'bun.lock': parsedBy(jsoncContent)(readBunLock),
  'installed-package.json': json(readInstalledPackage),
  'requirements.txt': readRequirements,
  'constraints.txt': readRequirements,
  'pyproject.toml': toml(readPyproject),
  'poetry.lock': toml(readPoetryLock),
  'uv.lock': toml(readUvLock),
  'pdm.lock': toml(readPdmLock),
  Pipfile: toml(readPipfile),
  'Pipfile.lock': json(readPipfileLock),
  'Cargo.toml': toml(readCargoToml),
  'Cargo.lock': toml(readCargoLock),
  'vendored-Cargo.toml': toml(readVendoredCrate),
  'go.mod': readGoMod,
  'go.sum': readGoSum,
  'pom.xml': readPom,
  'build.gradle': readGradleBuild,
  'gradle.lockfile': readGradleLockfile,
  'libs.versions.toml': toml(readVersionCatalog),
  Gemfile: readGemfile,
  'Gemfile.lock': readGemfileLock,
  'composer.json': json(readComposerJson),
  'composer.lock': json(readComposerLock),
  'setup.cfg': readSetupCfg,
  'setup.py': readSetupPy,
  'extensions.xml': readMavenExtensions,
  '.npmrc': readNpmrc,
  '.yarnrc': readYarnrc,
  '.yarnrc.yml': yaml(readYarnrcYml),
  'bunfig.toml': toml(readBunfig),
  'pnpm-workspace.yaml': yaml(readPnpmWorkspace),
  'pip.conf': readPipConf,
  'uv.toml': toml(readUvSettings),
  'environment.yml': (text, reading) => {
    if (/^\s*["']?(?:dependencies|channels)["']?\s*:/m.test(text)) yaml(readCondaEnvironment)(text, reading);
  },
  'cargo-config': toml(readCargoConfig),
  'settings.xml': readMavenSettings,
  'maven.config': readMavenOptions,
  'java.properties': readJavaProperties,
  'bundle-config': readBundleConfig,
};

const maxFiles = 20_000;
const maxTotalBytes = 512 * 1024 * 1024;

export interface DependencyReadings {
  readonly readings: readonly FileReading[];
  readonly problems: readonly DependencyProblem[];
  readonly notes: readonly DependencyProblem[];
}

/** Readings by content, so that a file that two trees share is read once. */
export type ReadingCache = WeakMap<Uint8Array, FileReading>;

/** Reads manifests and lockfiles by repository path. Never throws: what cannot be read is a problem. */
export function readDependencies(
  files: ReadonlyMap<string, Uint8Array>,
  cache: ReadingCache = new WeakMap(),
): DependencyReadings {
  const readings = new Map<string, FileReading>();
  const problems: DependencyProblem[] = [];
  const wanted = [...files.keys()].sort().flatMap((path): [string, FileKind][] => {
    const kind = fileKind(path);
    return kind ? [[path, kind]] : [];
  });
  let total = 0;
  for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
    const [path, kind] = next;
    const bytes = files.get(path);
    if (bytes === undefined || readings.has(path)) continue;
    total += bytes.length;
    if (readings.size >= maxFiles || total > maxTotalBytes) {
      problems.push({
        path,
        reason: `there are more than ${maxFiles} dependency files, or ${maxTotalBytes} bytes of them`,
      });
      break;
    }
    const known = cache.get(bytes);
    const reading = known?.path === path ? known : readFile(path, kind, bytes);
    cache.set(bytes, reading);
    readings.set(path, reading);
    for (const [links, id] of [
      [reading.includes ?? [], kind.id === 'constraints.txt' ? kind.id : 'requirements.txt'],
      [reading.constraints ?? [], 'constraints.txt'],
    ] as const) {
      for (const link of links) {
        const target = resolvePath(directoryOf(path), link);
        if (target === undefined || !files.has(target))
          problems.push({ path, reason: `it includes a file that was not given: \`${link.slice(0, 200)}\`` });
        else if (fileKind(target) === undefined)
          wanted.push([target, { id, ecosystem: 'pypi', role: 'manifest' }]);
      }
    }
  }
  const ordered = [...readings.values()];
  const told = (pick: (reading: FileReading) => readonly string[]): readonly DependencyProblem[] =>
    ordered.flatMap((reading) => pick(reading).map((reason) => ({ path: reading.path, reason })));
  return {
    readings: ordered,
    problems: [...told(({ problems: found }) => found), ...problems],
    notes: told(({ notes }) => notes),
  };
}

function readFile(path: string, kind: FileKind, bytes: Uint8Array): FileReading {
  const reading = new ReadingBuilder(path, kind);
  if (kind.id === 'unread') reading.problem('dependencies in files of this kind are not read');
  else {
    const content = textContent(bytes);
    if ('reason' in content) reading.problem(content.reason);
    else {
      try {
        reading.text = content.value;
        readers[kind.id](content.value, reading);
      } catch (fault) {
        // Any error of a reader is reported as a fault of the file. The message does not quote the error, because it
        // may contain any text of the file.
        reading.problem(`it cannot be read (${fault instanceof Error ? fault.name : 'fault'})`);
      }
    }
  }
  reading.text = '';
  return reading;
}

const others = /^(?:toolchain|exclude|retract|tool|godebug|ignore)$/;

/**
 * go.mod: what is required, with replacements applied; versions are exact. Since go 1.17 it lists everything that a
 * build uses; an older one leaves the indirect rest to go.sum.
 */
function readGoMod(text: string, reading: ReadingBuilder): void {
  const required: { path: string; version: string; direct: boolean; line: number }[] = [];
  const replaced = new Map<string, { readonly path: string; readonly version: string }>();
  let block = '';
  for (const [line, raw] of numberedLines(text)) {
    const [code = '', comment = ''] = raw.split(/\/\/(.*)/s);
    const words = code.match(/"[^"\s]*"|`[^`\s]*`|[^\s"`]\S*|\S+/g) ?? [];
    const plain = words.map((word) => word.replace(/^(["`])(.*)\1$/, '$2'));
    const isOpen = block === '' && plain.length === 2 && plain[1] === '(';
    const [directive = '', ...rest] = block === '' ? plain : [block, ...plain];
    const arrow = rest.indexOf('=>');
    const [path = '', version = ''] = rest.slice(arrow + 1);
    if (plain.length === 0) continue;
    if (isOpen) block = directive;
    else if (plain[0] === ')' && plain.length === 1) block = '';
    else if (plain.some((word) => /^["`]/.test(word))) reading.problem(`line ${line} cannot be understood`);
    else if (directive === 'require' && rest.length === 2)
      required.push({ path, version, direct: !/^\s*indirect\s*(?:;|$)/.test(comment), line });
    else if (directive === 'replace' && arrow >= 1 && path !== '')
      replaced.set(rest.slice(0, Math.min(arrow, 2)).join('@'), { path, version });
    else if (directive === 'module') reading.local.add(path);
    else if (directive === 'go') reading.listsAll = /^(?:[2-9]|1\.(?:1[7-9]|[2-9]\d|\d{3}))/.test(path);
    else if (directive === 'require' || directive === 'replace')
      reading.problem(`line ${line} cannot be understood`);
    else if (!others.test(directive)) reading.problem(`line ${line} holds a directive that is not known`);
  }
  if (block !== '') reading.problem('a block is not closed');
  // Of what a go.mod does not list itself the replacement counts as such; of the others it is what they are.
  const listed = new Set(required.flatMap(({ path, version }) => [path, `${path}@${version}`]));
  for (const [from, { path }] of replaced)
    if (!listed.has(from) && path !== from.replace(/@[^@]*$/, '')) reading.source(`replace ${from}`, path);
  const builder = new LockBuilder(reading);
  for (const { path, version, direct, line } of required) {
    const other = replaced.get(`${path}@${version}`) ?? replaced.get(path);
    const isPath = other !== undefined && /^(?:\.{1,2}(?:\/|$)|\/|[A-Za-z]:)/.test(other.path);
    const entry = {
      name: isPath ? path : (other?.path ?? path),
      version: isPath ? version : (other?.version ?? version),
      source: isPath ? ('path' as const) : ('registry' as const),
      origin: isPath ? reading.placeOf(other.path) : undefined,
      direct,
      line,
      asks: [],
    };
    builder.add(purlOf(entry, 'go'), entry);
  }
  builder.finish();
  reading.knowsDirect = true;
}

/** Reads go.sum: hashes of downloaded modules. A module with a content hash counts as a separate package. */
function readGoSum(text: string, reading: ReadingBuilder): void {
  const builder = new LockBuilder(reading);
  const hashes = new Map<string, { readonly algorithm: string; readonly value: string }>();
  for (const [number, line] of numberedLines(text)) {
    if (line.trim() === '') continue;
    const [name = '', version = '', hash = '', ...rest] = line.trim().split(/\s+/);
    if (rest.length > 0 || !/^h1:[A-Za-z0-9+/]{43}=$/.test(hash)) {
      reading.problem(`line ${number} cannot be understood`);
      continue;
    }
    if (version.endsWith('/go.mod')) continue;
    const integrity = { algorithm: 'h1', value: hash.slice(3) };
    hashes.set(`${name}@${version}`, integrity);
    builder.add(`${name}@${version}`, {
      name,
      version,
      source: 'registry',
      integrity,
      line: number,
      asks: [],
    });
  }
  reading.hashes = hashes;
  builder.finish();
}
