import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { keepPlugin, keptPlace, listedPlugins, userPluginAccess } from '../../api/user-plugins.ts';
import { repositoryPathFault } from '../../engine/config/repository-path.ts';
import { needsInWords } from '../../engine/plugin-trust/manifest-parts.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { namesOf, partsOf, readPlugin, requireFreeIds } from '../plugin/named-plugin.ts';
import { configSteps, openEnds, type Pin, pinPlugin, userSteps } from '../plugin/pin-plugin.ts';

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
