import { type DependencySource, dependencySource } from './dependency-source.ts';
import { entriesOf, isObject } from './read-json-object.ts';

/** One dependency that a package.json names. */
export interface DeclaredDependency {
  /** The key, under which the code imports it. */
  readonly key: string;
  readonly field: string;
  readonly spec: string;
  readonly source: DependencySource;
}

const fields = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
const maxDepth = 50;

/**
 * Dependencies of a package.json. An override or resolution counts where it replaces a package by another one (alias, git, URL); one that
 * only fixes a version adds nothing. `faults` name what cannot be understood.
 */
export function readManifest(manifest: Readonly<Record<string, unknown>>): {
  readonly declared: readonly DeclaredDependency[];
  readonly faults: readonly string[];
} {
  const declared: DeclaredDependency[] = [];
  const faults: string[] = [];
  for (const field of fields) {
    const value = manifest[field];
    if (value !== undefined && !isObject(value)) faults.push(`\`${field}\` is not an object`);
    for (const [key, spec] of entriesOf(value)) {
      if (typeof spec === 'string') declared.push({ key, field, spec, source: dependencySource(key, spec) });
      else faults.push(`\`${field}.${key}\` is not a string`);
    }
  }
  for (const field of ['overrides', 'resolutions'])
    readOverrides(manifest[field], field, declared, faults, 0);
  return { declared, faults };
}

function readOverrides(
  value: unknown,
  field: string,
  declared: DeclaredDependency[],
  faults: string[],
  depth: number,
): void {
  if (depth > maxDepth) {
    faults.push(`\`${field}\` is nested deeper than ${maxDepth}`);
    return;
  }
  for (const [key, spec] of entriesOf(value)) {
    if (isObject(spec)) readOverrides(spec, field, declared, faults, depth + 1);
    else if (typeof spec === 'string') {
      const name = nameOfOverride(key);
      const source = dependencySource(name, spec);
      if (source.kind !== 'local' && source.name !== name) declared.push({ key, field, spec, source });
    }
  }
}

/** `a@1`, `parent/a` and `**\/a` all speak of `a`. */
function nameOfOverride(key: string): string {
  const path = key.split('/');
  const last = path.slice(path.at(-2)?.startsWith('@') ? -2 : -1).join('/');
  const at = last.indexOf('@', 1);
  return at === -1 ? last : last.slice(0, at);
}
