const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.d.ts'] as const;
/** What TypeScript source is called where the specifier names its output. */
const sourceOf: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.d.ts'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts', '.d.mts'],
  '.cjs': ['.cts', '.d.cts'],
};

/** The file of the tree that a relative specifier means; `undefined` for packages and for what is not there. */
export function resolveJavascript(
  specifier: string,
  from: string,
  paths: Pick<ReadonlySet<string>, 'has'>,
): string | undefined {
  if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return undefined;
  const target = joinPath(from, specifier.replace(/[?#].*$/s, ''));
  if (target === undefined) return undefined;
  const isDirectory = target === '' || /(?:^|\/)\.{0,2}$/.test(specifier);
  const directory = target === '' ? '' : `${target}/`;
  return (isDirectory ? undefined : fileAt(target, paths)) ?? firstOf(`${directory}index`, extensions, paths);
}

/** Most specifiers name a file that is there, or the output of one. */
function fileAt(target: string, paths: Pick<ReadonlySet<string>, 'has'>): string | undefined {
  if (paths.has(target)) return target;
  const ending = /\.[cm]?jsx?$/.exec(target)?.[0] ?? '';
  const stem = target.slice(0, target.length - ending.length);
  return firstOf(stem, sourceOf[ending] ?? [], paths) ?? firstOf(target, extensions, paths);
}

function firstOf(
  stem: string,
  endings: readonly string[],
  paths: Pick<ReadonlySet<string>, 'has'>,
): string | undefined {
  const ending = endings.find((one) => paths.has(stem + one));
  return ending === undefined ? undefined : stem + ending;
}

/** `specifier` seen from the file `from`; `undefined` where it leaves the tree. */
function joinPath(from: string, specifier: string): string | undefined {
  const segments = from.split('/').slice(0, -1);
  for (const segment of specifier.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join('/');
}
