/* Packs a plugin into one file. */
import { messageOf } from '../../core/base/errors.ts';
import { compileGlob } from '../../core/base/glob.ts';
import { anything, list, mapOf, object, parse, text } from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { plainTar, storeGzip } from '../../readers/documents/archive/tar.ts';
import { type PluginManifest, readManifest } from './plugin-manifest.ts';
import { invalidPackage, maxTarballBytes, type PluginPackage, toPluginPackage } from './plugin-package.ts';

/** A plugin as one file, and what is in it. */
export interface PackedPlugin {
  /** Input of `writ plugin add`: the same files give the same bytes on every machine and at any time. */
  readonly tarball: Buffer;
  readonly pluginPackage: PluginPackage;
  readonly manifest: PluginManifest;
  /** What looks like somebody's secrets, and is not in it. */
  readonly leftOut: readonly string[];
}

/**
 * Packs what a directory's `package.json` calls the package; none of it runs. PLUGIN_INVALID for a manifest that is not
 * valid over just these files.
 */
export function packPlugin(directory: PluginPackage, place: string): PackedPlugin {
  const { files, leftOut } = taken(directory, place);
  const pluginPackage = toPluginPackage(files, place);
  const manifest = readManifest(pluginPackage, place);
  const named = [...pluginPackage.files].map(([path, bytes]) => [`package/${path}`, bytes] as const);
  const tarball = storeGzip(plainTar(named));
  if (tarball.length > maxTarballBytes)
    throw invalidPackage(place, `expected at most ${maxTarballBytes} packed bytes, found ${tarball.length}`);
  return { tarball, pluginPackage, manifest, leftOut };
}

function taken(directory: PluginPackage, place: string): ReturnType<typeof packedFiles> {
  try {
    return packedFiles(directory);
  } catch (cause) {
    throw invalidPackage(place, messageOf(cause), cause);
  }
}

type Files = PluginPackage['files'];

/** What of a plugin's directory a package of it holds. */
interface PackedFiles {
  readonly files: Files;
  /** Omitted paths, in any directory, with a name that looks like a secret. */
  readonly leftOut: readonly string[];
}

const maxPatterns = 256;
/** Included whatever `files` lists, as `npm pack` does. */
const always = /^(?:package\.json|(?:readme|licen[cs]e)(?:\.[^/]*)?)$/i;
const isSecretName =
  /^(?:\.env(?:\..*|rc)?|\.npmrc|\.yarnrc(?:\.yml)?|\.netrc|\.pypirc|\.git-credentials|\.htpasswd|\.ssh|\.gnupg|\.aws|\.writ|credentials(?:\.json)?|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|age))$/i;

/**
 * Returns the files that `files` of `package.json` lists (paths, directories, globs from the root; `!` excludes),
 * with manifest, readme and licence. Without `files`, returns all files that are not hidden. Never includes a file
 * with a secret's name. Throws if `files` is malformed or names a missing file.
 */
function packedFiles({ files }: Pick<PluginPackage, 'files'>): PackedFiles {
  const named = namedIn(files);
  const paths = [...files.keys()].filter((path) => always.test(path) || named(path));
  const leftOut = paths.filter((path) => path.split('/').some((segment) => isSecretName.test(segment)));
  const kept = [...files].filter(([path]) => paths.includes(path) && !leftOut.includes(path));
  return { files: new Map(kept), leftOut };
}

const packageFile = mapOf('an object', anything);
const namedFiles = object('an object', {}, { files: list(text(255), maxPatterns) });

function namedIn(files: Files): (path: string) => boolean {
  const manifest = files.get('package.json');
  if (manifest === undefined) throw new TypeError('it has no `package.json`');
  const { value } = parseStrictJson(manifest, { code: 'PLUGIN_INVALID', maxBytes: 256 * 1024, maxDepth: 16 });
  const { files: named } = parse(packageFile, value);
  const { files: given } = parse(namedFiles, { files: named });
  if (given === undefined) return (path) => !path.split('/').some((segment) => segment.startsWith('.'));
  const patterns = given.map(toPattern);
  for (const { text, isTaken, matches } of patterns)
    if (isTaken && ![...files.keys()].some(matches))
      throw new TypeError(`\`package.json\`: \`files\` names \`${text}\`, and nothing of that name is there`);
  // The last word counts.
  return (path) => patterns.findLast(({ matches }) => matches(path))?.isTaken === true;
}

interface Pattern {
  readonly text: string;
  readonly isTaken: boolean;
  matches(path: string): boolean;
}

function toPattern(text: string): Pattern {
  const bare = text
    .replace(/^!/, '')
    .replace(/^\.?\//, '')
    .replace(/\/$/, '');
  if (bare === '' || bare.split('/').some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new TypeError(
      `\`package.json\`: \`files\`: expected a path or glob below its root, found \`${text}\``,
    );
  const globs = [compileGlob(bare), compileGlob(`${bare}/**`)];
  return {
    text,
    isTaken: !text.startsWith('!'),
    matches: (path) => globs.some((glob) => glob.matches(path)),
  };
}
