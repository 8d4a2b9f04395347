/* Reads the configuration table `[workspace]`. */
import { readNetworkHost } from '../../spec/checks-of.ts';
import type { TableReader } from './table-reader.ts';

/** One `[[workspace.prepare]]`: a command that makes untracked directories out of tracked inputs. */
export interface PrepareStep {
  readonly argv: readonly string[];
  /** Hosts that the command reaches, as in `networkHosts` of a tool rule; none: it has no network at all. */
  readonly hosts: readonly string[];
  readonly timeoutSeconds: number;
  /** The lockfile that decides what the command makes. */
  readonly lockfile: string;
  /** Files and directories that the command is shown besides the lockfile. */
  readonly inputs: readonly string[];
  /** Directories that it makes. */
  readonly outputs: readonly string[];
}

/**
 * `[workspace]`: what a check sees in addition to the tree: dependencies that git does not track, history, and files
 * carried over from earlier checks.
 */
export interface WorkspaceConfig {
  /** Ignored directories of the person's tree. */
  readonly share: readonly string[];
  /** Neither `share` nor `prepare` is given: installed dependencies of the working tree are shared if there are any. */
  readonly sharesUsual: boolean;
  /** Must be equal on disk, at base and in the candidate for `share` to hold. */
  readonly lockfile: string;
  /** No `lockfile` is given: directories under `share` have those of their ecosystems. */
  readonly findsLockfile: boolean;
  /** Lockfiles that count instead, by directory under `share`. */
  readonly lockfiles: ReadonlyMap<string, string>;
  readonly prepare: readonly PrepareStep[];
  /** Paths that a check passes to later checks. Later checks see none of its other writes. */
  readonly carry: readonly string[];
  /** Globs over tracked files that checks may leave changed. */
  readonly rewrites: readonly string[];
  /** How many commits of the base's history a check sees, the base itself included. */
  readonly history: number;
}

/** writ searches for each path in every export, and writes it into every export. */
const maxCarried = 16;
const maxRewrites = 64;
const maxHistory = 10_000;

const defaultLockfile = 'package-lock.json';

/** The manifest that belongs to each lockfile. */
const manifestOf: Readonly<Record<string, string>> = {
  'package-lock.json': 'package.json',
  'npm-shrinkwrap.json': 'package.json',
  'pnpm-lock.yaml': 'package.json',
  'yarn.lock': 'package.json',
  'go.sum': 'go.mod',
  'poetry.lock': 'pyproject.toml',
  'uv.lock': 'pyproject.toml',
  'Cargo.lock': 'Cargo.toml',
};

const npm = ['registry.npmjs.org'];
const python = ['pypi.org', 'files.pythonhosted.org'];
const maven = ['repo.maven.apache.org'];
/** Hosts of the public registries that a tool downloads from where its configuration names no others. */
const registryHosts: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', npm],
  ['pnpm', npm],
  ['yarn', ['registry.yarnpkg.com', ...npm]],
  ['uv', python],
  ['poetry', python],
  ['pip', python],
  ['cargo', ['index.crates.io', 'static.crates.io']],
  ['go', ['proxy.golang.org', 'sum.golang.org']],
  ['maven', maven],
  ['gradle', [...maven, 'plugins.gradle.org', 'plugins-artifacts.gradle.org']],
]);
const maxHosts = 32;

/** Reads `[workspace]`. An absent section requests no untracked files. */
export function readWorkspaceSection(reader: TableReader): WorkspaceConfig {
  const lockfile = readPath(reader, 'lockfile', defaultLockfile);
  const findsLockfile = !reader.has('lockfile');
  const sharesUsual = findsLockfile && !reader.has('share') && !reader.has('prepare');
  const share = readPaths(reader, 'share', []);
  const prepare = reader.tables('prepare', 16).map((step) => readPrepareStep(step, lockfile));
  const carry = readPaths(reader, 'carry', []);
  for (const [index, path] of carry.entries()) {
    if (/[*?]/.test(path))
      reader.refuse(
        `${reader.at('carry')}[${index}]`,
        `\`${path}\` is a pattern; expected the path of a file or directory, such as \`dist\``,
      );
  }
  const rewrites = reader.texts('rewrites', []);
  if (rewrites.length > maxRewrites)
    reader.refuse(
      reader.at('rewrites'),
      `expected at most ${maxRewrites} patterns, found ${rewrites.length}`,
    );
  const history = reader.integer('history', 1, 1, maxHistory);
  reader.end();

  if (carry.length > maxCarried)
    reader.refuse(reader.at('carry'), `expected at most ${maxCarried} paths, found ${carry.length}`);
  refuseOverlaps(reader, 'carry', carry);
  for (const path of carry) {
    const given = [...share, ...prepare.flatMap(({ outputs }) => outputs)].find((one) =>
      pathsOverlap(one, path),
    );
    if (given !== undefined) {
      reader.refuse(
        reader.at('carry'),
        `\`${path}\` overlaps \`${given}\`, which every check is given read-only`,
      );
    }
  }

  refuseOverlaps(reader, 'share', share);
  refuseOverlaps(
    reader,
    'prepare',
    prepare.flatMap((step) => step.outputs),
  );
  for (const output of prepare.flatMap((step) => step.outputs)) {
    const nested = share.find((directory) => directory !== output && pathsOverlap(directory, output));
    if (nested !== undefined) {
      reader.refuse(
        reader.at('share'),
        `\`${nested}\` and the prepared directory \`${output}\` lie inside each other`,
      );
    }
  }
  const lockfiles = new Map<string, string>();
  return { share, sharesUsual, lockfile, findsLockfile, lockfiles, prepare, carry, rewrites, history };
}

function readPrepareStep(reader: TableReader, workspaceLockfile: string): PrepareStep {
  const argv = reader.texts('argv', []);
  if (argv.length === 0)
    reader.refuse(reader.at('argv'), 'expected the command and its arguments as a list of strings');
  else if (argv[0]?.includes('/')) {
    reader.refuse(
      reader.at('argv'),
      `\`${argv[0]}\` is a path; expected a bare name found on the sandbox's PATH`,
    );
  }

  const hosts = readHosts(reader);
  const lockfile = readPath(reader, 'lockfile', workspaceLockfile);
  const slash = lockfile.lastIndexOf('/') + 1;
  const manifest = manifestOf[lockfile.slice(slash)];
  const inputs = readPaths(
    reader,
    'inputs',
    manifest === undefined ? [] : [lockfile.slice(0, slash) + manifest],
  );

  const outputs = readPaths(reader, 'outputs', []);
  if (outputs.length === 0)
    reader.refuse(reader.at('outputs'), 'expected the directories that the command makes');
  for (const output of outputs) {
    const input = [lockfile, ...inputs].find((path) => pathsOverlap(path, output));
    if (input !== undefined)
      reader.refuse(reader.at('outputs'), `\`${output}\` overlaps the input \`${input}\``);
  }

  const timeoutSeconds = reader.integer('timeout_seconds', 600, 1, 3600);
  reader.end();
  return { argv, hosts, timeoutSeconds, lockfile, inputs, outputs };
}

/** `network`: `"none"`, the name of a tool, or a table with the list `hosts`. */
function readHosts(reader: TableReader): readonly string[] {
  if (reader.hasTable('network')) {
    const table = reader.table('network');
    const hosts = table.texts('hosts', []);
    if (hosts.length === 0 || hosts.length > maxHosts)
      table.refuse(table.at('hosts'), `expected 1 to ${maxHosts} hosts`);
    for (const [index, host] of hosts.entries()) {
      if (readNetworkHost(host) === undefined)
        table.refuse(
          `${table.at('hosts')}[${index}]`,
          `\`${host}\` is no host; expected a name such as \`registry.example.com\`, with \`:port\` for another port than 80 and 443`,
        );
    }
    table.end();
    return hosts;
  }
  const word = reader.text('network', 'none');
  const hosts = word === 'none' ? [] : registryHosts.get(word);
  if (hosts === undefined)
    reader.refuse(
      reader.at('network'),
      `\`${word}\` is not known; expected \`none\`, \`{ hosts = ["registry.example.com"] }\`, or one of ${[...registryHosts.keys()].map((one) => `\`${one}\``).join(', ')}`,
    );
  return hosts ?? [];
}

function readPath(reader: TableReader, key: string, fallback: string): string {
  const path = reader.text(key, fallback);
  const fault = repositoryPathFault(path);
  if (fault !== undefined) reader.refuse(reader.at(key), `\`${path}\`: ${fault}`);
  return path;
}

function readPaths(reader: TableReader, key: string, fallback: readonly string[]): readonly string[] {
  const paths = reader.texts(key, fallback);
  for (const [index, path] of paths.entries()) {
    const fault = repositoryPathFault(path);
    if (fault !== undefined) reader.refuse(`${reader.at(key)}[${index}]`, `\`${path}\`: ${fault}`);
  }
  return paths;
}

/** If one path is inside the other, one would overwrite the other. */
function refuseOverlaps(reader: TableReader, key: string, paths: readonly string[]): void {
  const sorted = [...paths].sort();
  for (const [index, path] of sorted.entries()) {
    const other = sorted.find((candidate, at) => at > index && pathsOverlap(path, candidate));
    if (other !== undefined)
      reader.refuse(reader.at(key), `\`${path}\` and \`${other}\` lie inside each other`);
  }
}

/**
 * Returns why `path` is not a plain path inside the repository, or `undefined` if it is one. A plain path is relative
 * and POSIX, has no `.` or `..`, and does not belong to git or writ.
 */
export function repositoryPathFault(path: string): string | undefined {
  if (path.length > 512) return 'expected at most 512 characters';
  if (path.startsWith('/') || path.startsWith('~') || /^[A-Za-z]:/.test(path))
    return 'expected a path relative to the repository root';
  if (path.includes('\\')) return 'expected `/` between path segments';
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') {
      return 'expected no empty, `.` or `..` segment and no slash at the end';
    }
    if (/^\.(git|writ)$/i.test(segment)) return `\`${segment}\` is not for the workspace`;
  }
  return undefined;
}

/** True if the paths are equal, or one is inside the other. */
export function pathsOverlap(left: string, right: string): boolean {
  return left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);
}
