import { resolve } from 'node:path';
import { sha256Hex } from '../../core/base/digest.ts';
import { needsInWords } from '../../engine/plugin-trust/manifest-parts.ts';
import { packPlugin } from '../../engine/plugin-trust/pack-plugin.ts';
import { readDirectory } from '../../engine/plugin-trust/plugin-package.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { namesOf, partsOf, requireFreeIds } from '../plugin/named-plugin.ts';

/**
 * `writ plugin pack DIR`: the file that `writ plugin add` takes, of what `package.json` calls the package. The same
 * files are the same bytes. An existing file is left alone.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { args, cwd, options } = context;
  const given = args[0] ?? '';
  const { tarball, pluginPackage, manifest, leftOut } = packPlugin(
    await readDirectory(resolve(cwd, given), given),
    given,
  );
  await requireFreeIds(context, manifest.name, namesOf(manifest));
  const out = options.value('out') ?? fileName(manifest);
  const path = writeOutput(cwd, out, tarball);
  const digest = `sha256:${pluginPackage.digest}`;
  const data = {
    path,
    name: manifest.name,
    version: manifest.version,
    digest,
    sha256: sha256Hex(tarball),
    size_bytes: tarball.length,
    files: [...pluginPackage.files].map(([file, bytes]) => ({ path: file, size_bytes: bytes.length })),
    left_out: [...leftOut],
    config: `[[plugins]]\npackage = ${JSON.stringify(manifest.packageName)}\ndigest = "${digest}"\n`,
    rules: manifest.rules.map(({ id }) => id),
    parts: partsOf(manifest),
    needs: [...needsInWords(manifest.needs)],
  };
  return succeeded(data, (printer) => {
    printer.line(
      `packed ${out}: ${manifest.name} ${manifest.version}, ${data.files.length} files, ${tarball.length} bytes`,
    );
    printer.line(`  sha256 of the file  ${data.sha256}`);
    printer.line(`  digest              ${digest}`);
    for (const file of leftOut) printer.line(`  left out            ${file} (it is called like a secret)`);
    for (const id of data.rules) printer.line(`  brings rule ${id}`);
    for (const { kind, name } of data.parts) printer.line(`  brings ${kind} ${name}`);
    for (const need of data.needs) printer.line(`  ${need}`);
    printer.line('  for .writ/config.toml');
    for (const line of data.config.trimEnd().split('\n')) printer.line(`    ${line}`);
    printer.line(`  next  writ plugin add ${out}`);
  });
}

/** As `npm pack` calls it. */
function fileName({
  packageName,
  version,
}: {
  readonly packageName: string;
  readonly version: string;
}): string {
  const plain = `${packageName.replace(/^@/, '').replace('/', '-')}-${version}`;
  return `${plain.replaceAll(/[^A-Za-z0-9._+-]/g, '-')}.tgz`;
}
