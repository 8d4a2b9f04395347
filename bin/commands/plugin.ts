/* The `writ plugin add`, `list` and `trust` commands, and how a plugin is pinned in the configuration. */
import { mkdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { JsonData } from '../../api/schemas/shape.ts';
import {
  distrustPlugin,
  keepPlugin,
  keptPlace,
  listedPlugins,
  trustFile,
  trustPlugin,
  userPluginAccess,
} from '../../api/user-plugins.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { readPlain, writeDurably } from '../../core/base/files.ts';
import { parseConfig } from '../../engine/config/config.ts';
import type { ListedPlugin } from '../../engine/config/sections.ts';
import { repositoryPathFault } from '../../engine/config/workspace-section.ts';
import type { FoundPlugin } from '../../plugins/third-party/find-plugins.ts';
import { needsInWords } from '../../plugins/third-party/manifest-parts.ts';
import type { PartKind } from '../../plugins/third-party/part-kinds.ts';
import type { PluginManifest } from '../../plugins/third-party/plugin-manifest.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { configLock, lockOutput } from '../command-parts/write-output.ts';
import {
  namedPlugin,
  namesOf,
  partsOf,
  readPlugin,
  requireFreeIds,
  type SpokenOf,
} from '../plugin/named-plugin.ts';
import { askYes } from '../terminal/open-output.ts';
import { styled } from '../terminal/print.ts';

/**
 * `writ plugin add PKG`: pins a plugin by digest in the configuration. A plugin outside the repository is copied for
 * this user. Does not trust the plugin.
 */
export async function pluginAddCommand(context: CommandContext): Promise<CommandResult> {
  const { manifest, pluginPackage, path } = await readPlugin(context, context.args[0] ?? '');
  await requireFreeIds(context, manifest.name, namesOf(manifest));
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const below = relative(await realpath(repository.root), await realpath(path))
    .split(sep)
    .join('/');
  const isInside = repositoryPathFault(below) === undefined;
  const { digest } = pluginPackage;
  const pin: Pin = isInside
    ? { kind: 'path', place: below, digest }
    : { kind: 'package', place: manifest.packageName, digest };
  if (!isInside) await keepPlugin(context.env, pluginPackage);
  const changed = await pinPlugin(repository, pin);
  const files = [
    ...(changed ? [join(repository.root, '.writ', 'config.toml')] : []),
    ...(isInside ? [] : [keptPlace(context.env, digest)]),
  ];
  const isCommitted = !changed && (await committed(context, repository, pin));
  const isTrusted = await userPluginAccess(context.env).trusts(digest);
  const next = [
    ...configSteps(manifest),
    ...(isCommitted ? [] : [`commit .writ/config.toml${isInside ? ` and ${below}` : ''}`]),
    ...(isTrusted ? [] : [`read it, then: writ plugin trust sha256:${digest}`]),
    ...userSteps(manifest),
    ...openEnds(manifest),
  ];
  const data = {
    name: manifest.name,
    version: manifest.version,
    digest: `sha256:${digest}`,
    [pin.kind]: pin.place,
    rules: manifest.rules.map(({ id }) => id),
    parts: partsOf(manifest),
    needs: [...needsInWords(manifest.needs)],
    kept: !isInside,
    changed,
    files,
    next,
  };
  return succeeded(data, (printer) => {
    printer.line(`${manifest.name} ${manifest.version}  sha256:${digest}`);
    for (const id of data.rules) printer.line(`  brings rule ${id}`);
    for (const { kind, name } of data.parts) printer.line(`  brings ${kind} ${name}`);
    for (const need of data.needs) printer.line(`  ${need}`);
    if (!changed) printer.line('  pinned already in .writ/config.toml');
    for (const file of files) printer.line(`  changed  ${file}`);
    for (const step of next) printer.line(`  next  ${step}`);
  });
}

/** Whether HEAD lists this very content, and has it. */
async function committed(context: CommandContext, repository: Repository, pin: Pin): Promise<boolean> {
  const listed = await listedPlugins(context, repository, 'HEAD').catch(() => []);
  return listed.some(
    ({ listed: one, status }) =>
      one.kind === pin.kind &&
      one.place === pin.place &&
      one.digest === pin.digest &&
      (status === 'trusted' || status === 'untrusted'),
  );
}

/**
 * `writ plugin list`: lists built-in plugins and what they enforce, then the plugins listed at HEAD and whether a run
 * would load them. Plugins pinned only in the working tree come last; they count once committed.
 */
export async function pluginListCommand(context: CommandContext): Promise<CommandResult> {
  await using engine = await openEngine(context);
  const builtIn = engine.plugins.map((name): JsonData => {
    const enforces = engine.ledger.entries.filter(({ enforcedBy }) => enforcedBy.includes(name));
    return {
      name,
      source: 'built-in',
      status: 'loaded',
      enforces: enforces.map(({ id }) => id),
      rules: [],
      parts: [],
      needs: [],
    };
  });
  const { listed, uncommitted } = await findListed(context);
  const plugins = [...builtIn, ...listed.map(toData), ...uncommitted.map(toUncommitted)];
  return succeeded({ plugins }, (printer) => {
    printer.table(
      plugins.map(({ name, source, status, enforces, rules, parts, digest }) => [
        styled(status === 'loaded' || status === 'trusted' ? 'green' : 'yellow', String(status)),
        String(name),
        String(source),
        source === 'built-in'
          ? `enforces ${(enforces as readonly string[]).length} requirements of specs`
          : `${brings(rules, parts)} ${String(digest)}`.trim(),
      ]),
    );
    for (const found of listed) {
      const { listed: one, status } = found;
      const { name, needs } = toData(found);
      for (const need of needs as readonly string[]) printer.line(`  ${String(name)} ${need}`);
      if (status === 'untrusted') printer.line(`  read it, then: writ plugin trust sha256:${one.digest}`);
      if (status === 'missing' && one.kind === 'package')
        printer.line(`  get \`${one.place}\`, then: writ plugin add FILE.tgz`);
    }
    for (const { kind, place } of uncommitted)
      printer.line(
        `  ${place} is pinned, not committed: commit .writ/config.toml${kind === 'path' ? ` and ${place}` : ''}`,
      );
  });
}

interface Listed {
  readonly listed: readonly FoundPlugin[];
  readonly uncommitted: readonly ListedPlugin[];
}

/** Returns plugins listed at HEAD, and those listed only in the working tree. Empty outside a repository. */
async function findListed(context: CommandContext): Promise<Listed> {
  const repository = await openRepository(context.repoPath ?? context.cwd).catch((fault: unknown) => {
    if (context.repoPath === undefined && isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  });
  if (repository === undefined) return { listed: [], uncommitted: [] };
  const listed = await listedPlugins(context, repository, 'HEAD');
  const pinned = await pinnedHere(repository.root).catch((fault: unknown) => {
    // Runs do not read the working tree's file, so its errors are ignored here.
    if (isWritError(fault)) return { plugins: [] };
    throw fault;
  });
  const uncommitted = pinned.plugins.filter(
    (one) => !listed.some(({ listed: other }) => one.place === other.place && one.digest === other.digest),
  );
  return { listed, uncommitted };
}

function toUncommitted({ kind, place, digest }: ListedPlugin): JsonData {
  const nothing = { enforces: [], rules: [], parts: [], needs: [] };
  return { name: place, source: kind, place, status: 'uncommitted', digest: `sha256:${digest}`, ...nothing };
}

/** Rules by their ids, all else with its kind. */
function brings(rules: unknown, parts: unknown): string {
  const others = parts as readonly { readonly kind: string; readonly name: string }[];
  return [...(rules as readonly string[]), ...others.map(({ kind, name }) => `${kind} ${name}`)].join(', ');
}

function toData(found: FoundPlugin): JsonData {
  const { listed, status } = found;
  const isFound = status === 'trusted' || status === 'untrusted';
  return {
    name: isFound ? found.manifest.name : listed.place,
    source: listed.kind,
    place: listed.place,
    status,
    digest: `sha256:${listed.digest}`,
    ...(status === 'changed' ? { found_digest: `sha256:${found.foundDigest}` } : {}),
    ...(isFound ? { version: found.manifest.version } : {}),
    enforces: [],
    rules: isFound ? found.manifest.rules.map(({ id }) => id) : [],
    parts: isFound ? partsOf(found.manifest) : [],
    needs: isFound ? [...needsInWords(found.manifest.needs)] : [],
  };
}

/**
 * `writ plugin trust PLUGIN`: lets this exact content evaluate changes for this user, in every repository that lists
 * it. Prints first what the plugin receives. Prompts for a path or name, but not for a digest, which was typed on
 * purpose. PLUGIN_UNCONFIRMED.
 */
export async function pluginTrustCommand(context: CommandContext): Promise<CommandResult> {
  const { args, env, options } = context;
  const given = args[0] ?? '';
  const meant = await namedPlugin(context, given);
  const { digest } = meant;
  const remove = options.flag('remove');
  const told = tellOf(meant);
  if (!remove) {
    for (const line of told.lines) context.print.complain(line);
    if (!given.startsWith('sha256:') && !options.flag('yes')) await askPerson(context, meant);
  }
  const changed = remove
    ? await distrustPlugin(env, digest)
    : await trustPlugin(env, digest, `trusted ${toRfc3339(systemClock.now())}`);
  const next = remove
    ? ['a run of a repository that lists it is refused from now on']
    : [
        'from now on, runs use it where the policy commit of the repository lists it',
        ...(meant.manifest === undefined ? [] : userSteps(meant.manifest)),
      ];
  const files = changed ? [trustFile(env, digest)] : [];
  const data = { digest: `sha256:${digest}`, trusted: !remove, changed, files, next, ...told.data };
  return succeeded(data, (printer) => {
    const state = remove ? 'not trusted' : 'trusted';
    printer.line(`sha256:${digest} is ${changed ? 'now' : 'already'} ${state}`);
    for (const file of files) printer.line(`  ${remove ? 'removed' : 'changed'}  ${file}`);
    for (const step of next) printer.line(`  next  ${step}`);
  });
}

/** What is trusted, for people and for programs. */
function tellOf({ digest, manifest }: SpokenOf) {
  if (manifest === undefined)
    return { lines: [`sha256:${digest} names no package that is known here`], data: {} };
  const { name, version, needs } = manifest;
  const rules = manifest.rules.map(({ id }) => id);
  const parts = partsOf(manifest);
  const given = [...needsInWords(needs)];
  const lines = [
    `${name} ${version}  sha256:${digest}`,
    ...rules.map((id) => `  brings rule ${id}`),
    ...parts.map((part) => `  brings ${part.kind} ${part.name}`),
    ...(given.length === 0
      ? ['  is given no host, no secret and no file of yours']
      : given.map((need) => `  ${need}`)),
  ];
  return { lines, data: { name, version, rules, parts, needs: given } };
}

async function askPerson(context: CommandContext, { digest, manifest }: SpokenOf): Promise<void> {
  const detail = { digest: `sha256:${digest}`, ...(manifest === undefined ? {} : { plugin: manifest.name }) };
  if (!context.interactive)
    throw new WritError('PLUGIN_UNCONFIRMED', {
      message: 'there is no terminal to confirm it on, so nothing was trusted',
      detail,
    });
  if (!(await askYes(context, 'trust it?')))
    throw new WritError('PLUGIN_UNCONFIRMED', {
      message: 'you did not answer yes, so nothing was trusted',
      detail,
    });
}

/** One entry of `[[plugins]]`. */
interface Pin {
  readonly kind: 'path' | 'package';
  readonly place: string;
  readonly digest: string;
}

/**
 * Adds the entry to `.writ/config.toml` of the working tree, or updates the digest of an existing entry. Leaves the
 * rest of the file unchanged. Returns false if the entry is there already. It counts once committed, because runs
 * read the policy commit.
 */
async function pinPlugin(repository: Repository, pin: Pin): Promise<boolean> {
  const { root } = repository;
  await using _lock = await lockOutput('.writ/config.toml', configLock(repository));
  const { path, bytes, plugins } = await pinnedHere(root);
  const text = bytes?.toString('utf8') ?? '';
  const there = plugins.find(({ kind, place }) => kind === pin.kind && place === pin.place);
  if (there?.digest === pin.digest) return false;
  const entry = `[[plugins]]\n${pin.kind} = ${JSON.stringify(pin.place)}\ndigest = "sha256:${pin.digest}"\n`;
  const changed =
    there === undefined
      ? `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text === '' ? '' : '\n'}${entry}`
      : replaceDigest(text, there.digest, pin);
  parseConfig(Buffer.from(changed), sealingForms);
  await mkdir(join(root, '.writ'), { recursive: true });
  await writeDurably(path, changed, 0o644);
  return true;
}

/** If the digest occurs twice (the same files at two paths), the text is ambiguous and a person must edit it. */
function replaceDigest(text: string, old: string, { place, digest }: Pin): string {
  const parts = text.split(`sha256:${old}`);
  if (parts.length === 2) return parts.join(`sha256:${digest}`);
  throw new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` names the digest of \`${place}\` ${parts.length - 1} times; change it by hand to \`sha256:${digest}\``,
    detail: { expected: `sha256:${digest}` },
  });
}

const maxConfigBytes = 256 * 1024;

/** What the configuration of a working tree holds. */
interface PinnedHere {
  readonly path: string;
  /** `undefined` if the file does not exist. */
  readonly bytes: Buffer | undefined;
  readonly plugins: readonly ListedPlugin[];
}

/** Reads `.writ/config.toml` of a working tree. Runs do not read this file. CONFIG_INVALID. */
async function pinnedHere(root: string): Promise<PinnedHere> {
  const path = join(root, '.writ', 'config.toml');
  const { bytes, fault } = readPlain(path, maxConfigBytes);
  if (fault && fault.code !== 'ENOENT')
    throw new WritError('CONFIG_INVALID', {
      message: `\`${path}\` is no plain file of at most ${maxConfigBytes} bytes`,
    });
  return { path, bytes, plugins: parseConfig(bytes, sealingForms).plugins };
}

/** Section required in `.writ/config.toml` before a part is used. Absent: `[[plugins]]` is sufficient. */
const sections: { readonly [K in PartKind]?: (name: string) => string } = {
  log: (name) => `\`[log]\`: \`plugin = "${name}"\` and \`vkey\`, its public key`,
  artifact: (name) => `\`[artifacts.NAME]\`: \`plugin = "${name}"\``,
  evidence: (name) => `\`[evidence]\`: \`plugins = ["${name}"]\``,
};

/** What names the parts of a plugin in the configuration, each as one step. */
export function configSteps(manifest: PluginManifest): readonly string[] {
  return partsOf(manifest).flatMap(({ kind, name }) => {
    const section = sections[kind]?.(name);
    return section === undefined ? [] : [`say in .writ/config.toml, ${section}`];
  });
}

/** What stays open of what a plugin brings. */
function openEnds({ logs }: PluginManifest): readonly string[] {
  return logs.flatMap(({ name, consistency }) =>
    consistency
      ? []
      : [
          `know that the log \`${name}\` does not prove how it grew: it is held to the first checkpoint that was seen of it`,
        ],
  );
}

/** Steps for each user before a run can use the plugin. */
export function userSteps({ needs, providers }: PluginManifest): readonly string[] {
  const keep = needs.secrets.map(
    (name) => `keep the secret: writ vault set ${name}, or set it in the environment`,
  );
  return [...keep, ...providers.map(({ name }) => `have it work: writ run SPEC --provider ${name}`)];
}
