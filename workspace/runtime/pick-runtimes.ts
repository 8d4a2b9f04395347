/* Selects the language runtimes of a run, also among those that toolchain managers have installed. */
import { lstat, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { error } from '../../core/interfaces/finding.ts';
import type { SandboxBackend, SandboxBind, SandboxResult } from '../../core/interfaces/sandbox.ts';
import { compareNumbers } from '../../readers/advisories/number-order.ts';
import {
  findVersion,
  meets,
  type RuntimeDemand,
  readLanguageRuntime,
  type Version,
} from '../../spec/language-runtime.ts';
import { isInside } from '../process/find-program.ts';

export interface RuntimePlace {
  /** What the checks will see besides the workspace. */
  readonly binds?: readonly SandboxBind[];
  readonly signal?: AbortSignal;
  /** For each tool; default 20 seconds. */
  readonly timeoutMs?: number;
  /** Where toolchain managers are looked for; absent: the user's home. */
  readonly toolchains?: ToolchainPlace;
}

/** Maps the name of a tool in the spec to its version, which a Run's `environment` pins. */
type RuntimeVersions = Readonly<Record<string, string>>;

const path = '/constraints/platform/languageRuntime';
const maxOutputBytes = 16 * 1024;

/** The runtimes of a run: their versions, and what has to be put before the sandbox's own PATH for them. */
interface PickedRuntimes {
  /** With `NAME.toolchain` for one that a toolchain manager offered: the name of the manager. */
  readonly versions: RuntimeVersions;
  /** For `SandboxRequest.tools`; empty where the sandbox shows them all. */
  readonly tools: readonly string[];
}

/** Maximum number of toolchains to query if the sandbox's own tool does not meet the spec. */
const maxAsked = 4;

/**
 * Queries the tools in the sandbox for their versions. If a version does not meet the spec, the newest suitable one
 * from the user's toolchain managers is used. RUNTIME_MISMATCH, with the demand and the tools on PATH, if no tool is
 * suitable. INTENTSPEC_INVALID if the text cannot be parsed. Blank text queries no tool.
 */
export async function pickRuntimes(
  sandbox: SandboxBackend,
  text: string,
  place: RuntimePlace = {},
): Promise<PickedRuntimes> {
  const demands = requireDemands(text);
  if (demands.length === 0) return { versions: {}, tools: [] };
  const versions: Record<string, string> = {};
  const tools: string[] = [];
  const root = await mkdtemp(join(tmpdir(), 'writ-runtime-'));
  try {
    const [workspace, reports] = [join(root, 'workspace'), join(root, 'reports')];
    await mkdir(workspace);
    await mkdir(reports);
    const at = { ...place, workspace, reports };
    for (const tool of new Set(demands.map((demand) => demand.tool))) {
      const wanted = demands.filter((demand) => demand.tool === tool);
      const shown = await askTool(sandbox, tool, { ...at, tools });
      const picked = meetsAll(shown, wanted)
        ? { version: shown }
        : await askToolchains(sandbox, wanted, at, tools);
      if ('offered' in picked) throw await mismatch(wanted, shown, picked.offered, sandbox, { ...at, tools });
      for (const { name } of wanted) versions[name] = picked.version.text;
      if (picked.toolchain === undefined) continue;
      tools.unshift(picked.toolchain.bin);
      for (const { name } of wanted) versions[`${name}.toolchain`] = picked.toolchain.manager;
    }
    return { versions, tools };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The back end with these tools first on the PATH of everything that it runs. */
export function withTools(sandbox: SandboxBackend, tools: readonly string[]): SandboxBackend {
  if (tools.length === 0) return sandbox;
  return {
    ...sandbox,
    run: (request) => sandbox.run({ ...request, tools: [...(request.tools ?? []), ...tools] }),
  };
}

function meetsAll(found: Version | undefined, wanted: readonly RuntimeDemand[]): found is Version {
  return found !== undefined && wanted.every(({ operator, version }) => meets(found, operator, version));
}

type Picked =
  | { readonly version: Version; readonly toolchain?: Toolchain }
  | { readonly offered: readonly Toolchain[] };

/** A manager's version name is trusted only after the tool itself has reported it in the sandbox. */
async function askToolchains(
  sandbox: SandboxBackend,
  wanted: readonly RuntimeDemand[],
  at: AskPlace,
  tools: readonly string[],
): Promise<Picked> {
  const [{ name, tool } = {}] = wanted;
  if (name === undefined || tool === undefined) return { offered: [] };
  const offered = await findToolchains(name, at.toolchains ?? { home: homedir(), env: process.env });
  const fit = offered.filter(({ version }) => version === undefined || meetsAll(version, wanted));
  for (const toolchain of fit.slice(0, maxAsked)) {
    const version = await askTool(sandbox, tool, { ...at, tools: [toolchain.bin, ...tools] });
    if (meetsAll(version, wanted)) return { version, toolchain };
  }
  return { offered };
}

function requireDemands(text: string): readonly RuntimeDemand[] {
  const demands = readLanguageRuntime(text);
  if (!('message' in demands)) return demands;
  const issue = error('SEMANTIC_LANGUAGE_RUNTIME', path, demands.message);
  throw new WritError('INTENTSPEC_INVALID', {
    message: `\`${path}\`: ${demands.message}`,
    detail: { issues: [issue] },
  });
}

type AskPlace = RuntimePlace & {
  readonly workspace: string;
  readonly reports: string;
  readonly tools?: readonly string[];
};

async function askTool(
  sandbox: SandboxBackend,
  tool: RuntimeDemand['tool'],
  place: AskPlace,
): Promise<Version | undefined> {
  for (const argv of tool.commands) {
    const result = await runTool(sandbox, argv, place);
    place.signal?.throwIfAborted();
    if (result?.exitCode !== 0) continue;
    const output = result.combined.bytes.toString('utf8');
    const start = tool.after === undefined ? 0 : output.indexOf(tool.after);
    if (start < 0) continue;
    const version = findVersion(output.slice(start + (tool.after?.length ?? 0)));
    if (version) return tool.dropsLeadingOne ? withoutLeadingOne(version) : version;
  }
  return undefined;
}

/** `undefined` where the program is not there. */
async function runTool(
  sandbox: SandboxBackend,
  argv: readonly string[],
  place: AskPlace,
): Promise<SandboxResult | undefined> {
  try {
    return await sandbox.run({
      argv,
      workspace: place.workspace,
      reports: place.reports,
      binds: place.binds ?? [],
      env: { CI: 'true' },
      ...(place.tools === undefined || place.tools.length === 0 ? {} : { tools: place.tools }),
      network: sandbox.unconfined ? 'host' : 'none',
      timeoutMs: place.timeoutMs ?? 20_000,
      maxOutputBytes,
      ...(place.signal === undefined ? {} : { signal: place.signal }),
    });
  } catch (fault) {
    if (isWritError(fault, 'SPAWN_FAILED')) return undefined;
    throw fault;
  }
}

function withoutLeadingOne(version: Version): Version {
  const [first, ...rest] = version.numbers;
  return first === 1 && rest.length > 0 ? { ...version, numbers: rest } : version;
}

/** Builds RUNTIME_MISMATCH: the demand, the tool on PATH with its location, and the versions that managers have. */
async function mismatch(
  wanted: readonly RuntimeDemand[],
  found: Version | undefined,
  offered: readonly Toolchain[],
  sandbox: SandboxBackend,
  place: AskPlace,
): Promise<WritError> {
  const [{ name, tool } = { name: '', tool: { commands: [] } }] = wanted;
  const expected = wanted.map(({ text }) => text).join(' ');
  const at = await pathOf(sandbox, tool, place);
  const where = at === undefined ? '' : ` at \`${at}\``;
  const there = found === undefined ? `no working \`${name}\`${where}` : `\`${found.text}\`${where}`;
  const others = offered.slice(0, 8).map(({ manager, name: version }) => `${manager} ${printable(version)}`);
  const instead =
    others.length === 0
      ? 'and no toolchain manager here has one'
      : `and toolchain managers have ${others.map((one) => `\`${one}\``).join(', ')}`;
  return new WritError('RUNTIME_MISMATCH', {
    message: `expected \`${expected}\` in the sandbox \`${sandbox.name}\`, found ${there}, ${instead}`,
    detail: {
      tool: name,
      expected,
      found: found?.text ?? null,
      path: at ?? null,
      offered: others,
      sandbox: sandbox.name,
    },
  });
}

/** Where the sandbox finds the first of its programs. */
async function pathOf(
  sandbox: SandboxBackend,
  { commands }: RuntimeDemand['tool'],
  place: AskPlace,
): Promise<string | undefined> {
  for (const [program] of commands) {
    const result = await runTool(sandbox, ['sh', '-c', 'command -v "$1"', 'sh', program], place);
    const found = result?.exitCode === 0 ? result.stdout.bytes.toString('utf8').trim() : '';
    if (found.startsWith('/')) return printable(found.slice(0, 4096));
  }
  return undefined;
}

/** One runtime that a toolchain manager has installed. */
interface Toolchain {
  /** `mise`, `nvm` … */
  readonly manager: string;
  /** Name of its directory: mostly the version. */
  readonly name: string;
  /** Parsed from the directory name. Absent for names such as `stable`: then the tool must be queried. */
  readonly version?: Version;
  /** Where its programs are, symlinks resolved. */
  readonly bin: string;
}

/** Where managers are found: the user's home, and the variables that move them elsewhere. */
interface ToolchainPlace {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A manager: its root, and the places of each tool's versions below it. `*` is the one directory per version. */
interface Manager {
  readonly name: string;
  readonly variable?: string;
  readonly root: string;
  readonly places: Readonly<Record<string, readonly string[]>>;
}

const node = ['node', 'nodejs', 'npm'] as const;
const python = ['python', 'python3'] as const;
const rust = ['rust', 'rustc', 'cargo'] as const;
const java = ['java', 'jdk'] as const;

function each(
  names: readonly string[],
  ...places: readonly string[]
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.map((name) => [name, places]));
}

/** By tool as mise and asdf call their plugins. */
const installs: Manager['places'] = {
  ...each(node, 'installs/node/*/bin', 'installs/nodejs/*/bin'),
  ...each(python, 'installs/python/*/bin'),
  ...each(java, 'installs/java/*/bin'),
  ...each(['go'], 'installs/go/*/bin', 'installs/golang/*/go/bin'),
  ...each(['ruby'], 'installs/ruby/*/bin'),
  ...each(['php'], 'installs/php/*/bin'),
  ...each(['perl'], 'installs/perl/*/bin'),
  ...each(['deno'], 'installs/deno/*/bin'),
  ...each(['bun'], 'installs/bun/*/bin'),
};

/** In the order in which they are looked at; of equal versions the first wins. */
const managers: readonly Manager[] = [
  { name: 'mise', variable: 'MISE_DATA_DIR', root: '.local/share/mise', places: installs },
  { name: 'asdf', variable: 'ASDF_DATA_DIR', root: '.asdf', places: installs },
  { name: 'nvm', variable: 'NVM_DIR', root: '.nvm', places: each(node, 'versions/node/*/bin') },
  {
    name: 'fnm',
    variable: 'FNM_DIR',
    root: '.local/share/fnm',
    places: each(node, 'node-versions/*/installation/bin'),
  },
  { name: 'pyenv', variable: 'PYENV_ROOT', root: '.pyenv', places: each(python, 'versions/*/bin') },
  { name: 'rbenv', variable: 'RBENV_ROOT', root: '.rbenv', places: each(['ruby'], 'versions/*/bin') },
  { name: 'rustup', variable: 'RUSTUP_HOME', root: '.rustup', places: each(rust, 'toolchains/*/bin') },
  { name: 'sdkman', variable: 'SDKMAN_DIR', root: '.sdkman', places: each(java, 'candidates/java/*/bin') },
];

/** `v22.1.0`, `3.12.1`, `temurin-21.0.2`; not `stable-x86_64-unknown-linux-gnu`. */
const saysVersion = /^(?:[a-z]{1,32}-)?v?\d/;

/** Directories of one manager's tool that are looked at. */
const maxVersions = 200;

/**
 * Returns the installed versions of a tool in toolchain managers, newest first, entries without a version last. None
 * of them is run. Directories that others may write, or that lead out of their manager's root, are omitted.
 */
async function findToolchains(tool: string, place: ToolchainPlace): Promise<readonly Toolchain[]> {
  const found: Toolchain[] = [];
  for (const { name: manager, variable, root, places } of managers) {
    const given = variable === undefined ? undefined : place.env[variable];
    const top = await real(given && isAbsolute(given) ? given : join(place.home, root));
    if (top === undefined) continue;
    for (const pattern of Object.hasOwn(places, tool) ? (places[tool] ?? []) : []) {
      const [above = '', below = ''] = pattern.split('*');
      const names = await readdir(join(top, above)).catch(() => []);
      for (const name of names.sort().slice(0, maxVersions)) {
        const bin = await real(join(top, above, name, below));
        if (bin === undefined || !isInside(top, bin) || !(await isSafe(bin))) continue;
        const version = saysVersion.test(name) ? findVersion(name) : undefined;
        found.push({ manager, name, bin, ...(version ? { version } : {}) });
      }
    }
  }
  const unique = [...new Map(found.map((one) => [one.bin, one])).values()];
  return unique.sort((a, b) => compareNumbers(b.version?.numbers ?? [], a.version?.numbers ?? []));
}

async function real(file: string): Promise<string | undefined> {
  return realpath(file).catch(() => undefined);
}

/** Returns whether a directory and its parent belong to this user or root, and no one else may change them. */
async function isSafe(bin: string): Promise<boolean> {
  for (const directory of [bin, dirname(bin)]) {
    const facts = await stat(directory).catch(() => undefined);
    if (!facts?.isDirectory() || (facts.mode & 0o002) !== 0) return false;
    if (process.getuid !== undefined && ![0, process.getuid()].includes(facts.uid)) return false;
  }
  return (await lstat(bin)).isDirectory();
}
