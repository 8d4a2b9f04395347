import { realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { keepPlugin } from '../../api/user-plugins.ts';
import { repositoryPathFault } from '../../engine/config/repository-path.ts';
import { needsInWords } from '../../engine/plugin-trust/manifest-needs.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { partsOf } from '../plugin/parts-of.ts';
import { type Pin, pinPlugin } from '../plugin/pin-plugin.ts';
import { readPlugin } from '../plugin/read-plugin.ts';
import { namesOf, requireFreeIds } from '../plugin/require-free-ids.ts';

/**
 * `writ plugin add PKG`: pins a plugin by digest in the config. One outside the repository is kept for this user;
 * nothing is trusted yet.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
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
  const changed = await pinPlugin(repository.root, pin);
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
  };
  return succeeded(data, (printer) => {
    printer.line(`${manifest.name} ${manifest.version}  sha256:${digest}`);
    printer.line(changed ? '  pinned in .writ/config.toml' : '  pinned already');
    for (const need of data.needs) printer.line(`  ${need}`);
    const commit = isInside ? `.writ/config.toml and ${below}` : '.writ/config.toml';
    printer.line(`  next  commit ${commit}, then: writ plugin trust sha256:${digest}`);
  });
}
