import { repositoryPathFault } from './repository-path.ts';
import type { PlainValue, TableReader } from './table-reader.ts';

/** One `[[plugins]]`: where somebody's plugin is, and the only content that it may have. */
export interface ListedPlugin {
  /**
   * `path`: a directory or `.tgz` in the tree of the policy commit. `package`: kept by the user (`writ plugin add`), by
   * its name.
   */
  readonly kind: 'path' | 'package';
  readonly place: string;
  /** SHA-256 of the plugin's files, lower-case hex (`docs/plugins.md`). */
  readonly digest: string;
  /** What its manifest declares; held to that where it is opened. */
  readonly options?: Readonly<Record<string, PlainValue>>;
}

const maxPlugins = 32;
const packageName = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;

/** Reads `[[plugins]]`. Each has either `path` or `package`, and always a digest: what is not pinned is not loaded. */
export function readPluginsSection(root: TableReader): readonly ListedPlugin[] {
  const listed = root.tables('plugins', maxPlugins).map((reader): ListedPlugin => {
    const isPackage = reader.has('package');
    if (isPackage === reader.has('path'))
      reader.refuse(reader.path, 'expected exactly one of `path` and `package`');
    const place = isPackage ? reader.text('package', '') : reader.text('path', '');
    const fault = isPackage ? packageFault(place) : repositoryPathFault(place);
    if (place !== '' && fault !== undefined) reader.refuse(reader.at(isPackage ? 'package' : 'path'), fault);
    const digest = reader.text('digest', '');
    if (!/^sha256:[0-9a-f]{64}$/.test(digest))
      reader.refuse(reader.at('digest'), 'expected `sha256:` and 64 lower-case hexadecimal digits');
    const options = reader.has('options') ? { options: reader.plain('options') } : {};
    reader.end();
    return {
      kind: isPackage ? 'package' : 'path',
      place,
      digest: digest.slice('sha256:'.length),
      ...options,
    };
  });
  const places = listed.map(({ kind, place }) => `${kind} ${place}`);
  const twice = listed.find(({ kind, place }, index) => places.indexOf(`${kind} ${place}`) !== index);
  if (twice !== undefined) root.refuse(root.at('plugins'), `\`${twice.place}\` is listed twice`);
  return listed;
}

function packageFault(name: string): string | undefined {
  return name.length <= 214 && packageName.test(name) ? undefined : 'expected the name of a package';
}
