/* Pins a plugin in the configuration, and lists the steps that remain for the user. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { WritError } from '../../core/base/errors.ts';
import { readPlain, writeDurably } from '../../core/base/files.ts';
import { parseConfig } from '../../engine/config/config.ts';
import type { ListedPlugin } from '../../engine/config/sections.ts';
import type { PartKind } from '../../plugins/third-party/part-kinds.ts';
import type { PluginManifest } from '../../plugins/third-party/plugin-manifest.ts';
import { partsOf } from './named-plugin.ts';

/** One entry of `[[plugins]]`. */
export interface Pin {
  readonly kind: 'path' | 'package';
  readonly place: string;
  readonly digest: string;
}

/**
 * Adds the entry to `.writ/config.toml` of the working tree, or updates the digest of an existing entry. Leaves the
 * rest of the file unchanged. Returns false if the entry is there already. It counts once committed, because runs
 * read the policy commit.
 */
export async function pinPlugin(root: string, pin: Pin): Promise<boolean> {
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
export async function pinnedHere(root: string): Promise<PinnedHere> {
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
export function openEnds({ logs }: PluginManifest): readonly string[] {
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
