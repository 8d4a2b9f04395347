/* Where the package of the baseline commit is kept, and whether what is there is that package. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, sep } from 'node:path';

/** `fixtures/compatibility/baseline.json`. */
export interface Baseline {
  /** The commit whose behaviour the working tree keeps. */
  readonly commit: string;
  /** `packageDigest` of its published package. */
  readonly digest: string;
}

/** The package of the baseline, or why it cannot be used and what to do. */
export type FoundBaseline = { readonly packageDirectory: string } | { readonly missing: string };

/** The commit that the working tree is compared with, and the digest of its package. */
export function readBaseline(): Baseline {
  const file = new URL('../../fixtures/compatibility/baseline.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Baseline;
}

/**
 * The directory of a baseline in the user's cache. It holds the tarball, the unpacked `package/`, and beside it the
 * `node_modules/` of that commit's lockfile.
 */
export function baselinePlace({ commit }: Baseline): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(cache, 'writ', 'baseline', commit);
}

/** Looks the package up in the cache. A package with another digest is as good as none. */
export function findBaseline(
  baseline: Baseline = readBaseline(),
  place = baselinePlace(baseline),
): FoundBaseline {
  const packageDirectory = join(place, 'package');
  if (!existsSync(packageDirectory))
    return {
      missing: `the package of ${baseline.commit.slice(0, 8)} is not built; run \`node scripts/build-baseline.ts\``,
    };
  const found = packageDigest(packageDirectory);
  if (found === baseline.digest) return { packageDirectory };
  return {
    missing: `the package in the cache has digest ${found}, expected ${baseline.digest}; run \`node scripts/build-baseline.ts\``,
  };
}

/**
 * SHA-256 over the paths and contents of an unpacked package, in hex. It does not depend on how a tarball was
 * compressed.
 */
export function packageDigest(directory: string): string {
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
  const whole = createHash('sha256');
  for (const path of paths) {
    const content = createHash('sha256')
      .update(readFileSync(join(directory, path)))
      .digest('hex');
    whole.update(`${content}  ${path.split(sep).join('/')}\n`);
  }
  return whole.digest('hex');
}
