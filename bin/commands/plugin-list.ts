import type { JsonData } from '../../api/json-data.ts';
import { listedPlugins } from '../../api/user-plugins.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ListedPlugin } from '../../engine/config/sections.ts';
import type { FoundPlugin } from '../../engine/plugin-trust/find-plugins.ts';
import { needsInWords } from '../../engine/plugin-trust/manifest-parts.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { partsOf } from '../plugin/named-plugin.ts';
import { pinnedHere } from '../plugin/pin-plugin.ts';
import { styled } from '../terminal/print.ts';

/**
 * `writ plugin list`: built-ins and what they enforce, then what the repository lists at HEAD and whether it would be
 * loaded, then what is pinned in the working tree and counts for nothing before it is committed.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
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
          ? `enforces ${(enforces as readonly string[]).length} contract rows`
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

/** What the repository lists at HEAD, and what only its working tree does; nothing outside a repository. */
async function findListed(context: CommandContext): Promise<Listed> {
  const repository = await openRepository(context.repoPath ?? context.cwd).catch((fault: unknown) => {
    if (context.repoPath === undefined && isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  });
  if (repository === undefined) return { listed: [], uncommitted: [] };
  const listed = await listedPlugins(context, repository, 'HEAD');
  const pinned = await pinnedHere(repository.root).catch((fault: unknown) => {
    // What no run reads refuses nothing here.
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
