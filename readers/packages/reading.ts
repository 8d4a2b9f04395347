/* Collects what a reader finds in one dependency file: packages, problems and source settings. */
import { entriesOf, isTable, LineFinder, type Table, tableOf } from './content.ts';
import type { FileKind } from './file-kind.ts';
import { type Ecosystem, type LockedPackage, withoutCredentials } from './locked-package.ts';
import { isDefaultPlace, type PackageSource, shownPlace } from './sources/package-source.ts';

/** Values of a switch that turn a check off, and that turn one on which is off by default. */
interface CheckFlag {
  readonly loose?: readonly string[];
  readonly strict?: readonly string[];
}

/** Guards where it is on, loosens where it is off. */
export const eitherWay: CheckFlag = {
  loose: ['false', 'no', 'off', '0', 'null'],
  strict: ['true', 'yes', 'on', '1'],
};
export const onByDefault: CheckFlag = { loose: eitherWay.loose ?? [] };
export const offByDefault: CheckFlag = { strict: eitherWay.strict ?? [] };
/** Harmless unless turned on. */
export const looseWhenOn: CheckFlag = { loose: ['true', 'yes', 'on', '1', 'all'] };

/** `place` always counts, `added` if it comes, `lost` if it goes; a switch counts where it loosens or guards. */
export type Setting = 'place' | 'added' | 'lost' | CheckFlag;

/**
 * States one setting. A switch with a variable as its value may be on or off, so it always counts. A table in place of
 * a value counts by its `url` or `path`.
 */
export function stateSetting(
  reading: ReadingBuilder,
  key: string,
  value: unknown,
  setting: Setting,
  line?: number,
): void {
  if (typeof setting === 'string') {
    const counts = setting === 'place' ? undefined : setting;
    return void reading.source(key, isTable(value) ? (value.url ?? value.path) : value, { line, counts });
  }
  if (value === undefined || value === null || typeof value === 'object') return;
  const text = String(value).trim().toLowerCase();
  if (setting.loose?.includes(text)) reading.source(key, text, { line, counts: 'added' });
  else if (setting.strict?.includes(text)) reading.source(key, text, { line, counts: 'lost' });
  else if (text.includes('$')) reading.source(key, text, { line });
}

/**
 * States settings of a parsed document by their path, `a.b.c`. `*` is every key of a table, or every item of a list (or
 * a value alone), which shares the key of the list.
 */
export function readSettings(
  reading: ReadingBuilder,
  root: unknown,
  settings: Readonly<Record<string, Setting>>,
  prefix = '',
): void {
  for (const [path, setting] of Object.entries(settings))
    readSetting(reading, root, path.split('.'), prefix, setting);
}

function readSetting(
  reading: ReadingBuilder,
  value: unknown,
  [step, ...rest]: readonly string[],
  key: string,
  setting: Setting,
): void {
  const below = (name: string): string => (key === '' ? name : `${key}.${name}`);
  if (step === undefined) stateSetting(reading, key, value, setting);
  else if (step !== '*') readSetting(reading, tableOf(value)[step], rest, below(step), setting);
  else if (isTable(value))
    for (const [name, inner] of Object.entries(value))
      readSetting(reading, inner, rest, below(name), setting);
  else
    for (const item of Array.isArray(value) ? value : [value]) readSetting(reading, item, rest, key, setting);
}

type Loose<T> = { [Key in keyof T]: T[Key] | undefined };
/** A dependency as a reader finds it: fields without a value are left out. */
type Declared = Pick<DeclaredDependency, 'key' | 'name' | 'requirement' | 'scope' | 'field'> &
  Loose<Partial<Omit<DeclaredDependency, 'declaredIn'>>>;

export type SourceKind = NonNullable<LockedPackage['source']>;

export interface DeclaredDependency {
  readonly ecosystem: Ecosystem;
  /** As the manifest calls it: of an alias, the alias. */
  readonly key: string;
  /** Real name in the form that the ecosystem compares. */
  readonly name: string;
  /** The requirement as written; empty for any version. */
  readonly requirement: string;
  /** Where the requirement admits exactly one version. */
  readonly version?: string;
  readonly scope: LockedPackage['scope'];
  /** The table or directive that contains it. */
  readonly field: string;
  readonly source?: SourceKind;
  readonly origin?: string;
  readonly declaredIn: string;
  readonly line?: number;
  /** It changes where a package comes from, or adds to another's; it need not be in a lockfile by itself. */
  readonly isOverride?: boolean;
  /** The declaration pins hashes for the package's files. */
  readonly isHashed?: boolean;
  /** A lockfile need not hold it: a peer, a build system's own requirement, a platform's. */
  readonly needNotBeLocked?: boolean;
  /** The requiring packages (`# via`), in lockfiles that list only required packages. */
  readonly via?: readonly string[];
}

export interface FileReading {
  readonly path: string;
  readonly kind: FileKind;
  readonly declared: readonly DeclaredDependency[];
  readonly locked: readonly LockedPackage[];
  readonly sources: readonly PackageSource[];
  /** The lockfile itself marks the direct packages. */
  readonly knowsDirect: boolean;
  /** Copies of manifests that a lockfile keeps: directory relative to it, then key, then requirement. */
  readonly mirrored?: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;
  /** Names that are part of this repository. */
  readonly local: ReadonlySet<string>;
  /** Package licenses that a file states for a whole package: `name` or `name@version`. */
  readonly licenses?: ReadonlyMap<string, string> | undefined;
  /** Hashes for packages of another file: `name@version`. */
  readonly hashes?: ReadonlyMap<string, NonNullable<LockedPackage['integrity']>> | undefined;
  /** go.mod since 1.17: what its go.sum holds besides is not used. */
  readonly listsAll?: boolean | undefined;
  /** Other files that it includes or is constrained by, as written. */
  readonly includes?: readonly string[] | undefined;
  readonly constraints?: readonly string[] | undefined;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Collects the findings of a reader; without findings, the reading is empty. */
export class ReadingBuilder implements FileReading {
  readonly path: string;
  readonly kind: FileKind;
  readonly declared: DeclaredDependency[] = [];
  readonly sources: PackageSource[] = [];
  text = '';
  locked: readonly LockedPackage[] = [];
  knowsDirect = false;
  mirrored: Map<string, ReadonlyMap<string, string>> | undefined;
  listsAll = false;
  readonly includes: string[] = [];
  readonly constraints: string[] = [];
  readonly local = new Set<string>();
  licenses: Map<string, string> | undefined;
  hashes: Map<string, NonNullable<LockedPackage['integrity']>> | undefined;
  readonly problems: string[] = [];
  readonly notes: string[] = [];

  constructor(path: string, kind: FileKind) {
    this.path = path;
    this.kind = kind;
  }

  /** Keeps at most 20 problems of one file: one is enough to refuse it. */
  problem(reason: string): void {
    if (this.problems.length < 20 && !this.problems.includes(reason)) this.problems.push(reason);
  }

  note(reason: string): void {
    if (this.notes.length < 20 && !this.notes.includes(reason)) this.notes.push(reason);
  }

  lines(): LineFinder {
    return new LineFinder(this.text);
  }

  /** A path that the file names, seen from the root; one that leaves the repository begins with `../`. */
  placeOf(path: string): string {
    return resolvePath(directoryOf(this.path), path) ?? `../${path.slice(0, 1000)}`;
  }

  license(name: string, version: string, license: string | undefined): void {
    if (license === undefined) return;
    this.licenses ??= new Map();
    this.licenses.set(version === '' ? name : `${name}@${version}`, license);
  }

  /** Another source than a registry has no version, and a path inside the repository need not be in a lockfile. */
  declare(dependency: Declared): void {
    if (this.declared.length >= maxDeclared) this.problem(`it names more than ${maxDeclared} dependencies`);
    else if (!isName(dependency.name)) this.problem('it names a dependency in a form that is no name');
    else {
      const { source = 'registry', version, needNotBeLocked } = dependency;
      const found = {
        ecosystem: this.kind.ecosystem,
        ...dependency,
        requirement: withoutCredentials(dependency.requirement),
        version: source === 'registry' ? version : undefined,
        needNotBeLocked: needNotBeLocked === true || source === 'path',
        declaredIn: this.path,
      };
      this.declared.push(stated(found) as DeclaredDependency);
    }
  }

  /** Entries of a table of dependencies with their lines. Anything but texts, and tables in TOML, is a problem. */
  *dependenciesIn(
    field: string,
    value: unknown,
  ): Generator<readonly [key: string, spec: string | Table, line: number | undefined]> {
    if (value !== undefined && !isTable(value)) this.problem(`\`${field}\` is no table`);
    const isJson = this.path.endsWith('.json');
    const lines = this.lines();
    lines.next(isJson ? JSON.stringify(field) : (field.split('.').at(-1) ?? ''));
    for (const [key, specs] of entriesOf(value)) {
      const line = isJson ? lines.next(`${JSON.stringify(key)}:`) : lines.nextKey(key);
      for (const spec of Array.isArray(specs) && !isJson ? specs.slice(0, 50) : [specs])
        if (typeof spec === 'string' || (isTable(spec) && !isJson)) yield [key, spec, line];
        else this.problem(`a value of \`${field}\` cannot be understood`);
    }
  }

  /**
   * A value that is none (absent, a table) is passed over. The line, where it is not given, is the first that holds the
   * value.
   */
  source(
    key: string,
    value: unknown,
    more: { readonly line?: number | undefined; readonly counts?: PackageSource['counts'] | undefined } = {},
  ): void {
    if (typeof value !== 'string' && typeof value !== 'boolean' && typeof value !== 'number') return;
    if (this.sources.length >= maxSources) {
      this.problem(`it names more than ${maxSources} places of packages`);
      return;
    }
    const shown = shownPlace(String(value));
    const line = more.line ?? this.#lineOf(String(value));
    const isDefault = isDefaultPlace(shown) && !key.startsWith('@');
    this.sources.push(stated({ key: shownPlace(key), value: shown, line, counts: more.counts, isDefault }));
  }

  #lineOf(value: string): number | undefined {
    if (value === '' || this.text.length > maxSearched || this.sources.length > 200) return undefined;
    const at = this.text.indexOf(value);
    return at === -1 ? undefined : this.text.slice(0, at).split('\n').length;
  }
}

/** Returns a copy without empty fields: `undefined`, `false`, and an empty `origin`. */
export function stated<T extends object>(found: T): Stated<T> {
  const fields = Object.entries(found).filter(
    ([key, value]) => value !== undefined && value !== false && (key !== 'origin' || value !== ''),
  );
  return Object.fromEntries(fields) as Stated<T>;
}

type Stated<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

const maxDeclared = 50_000;
const maxSources = 2000;
const maxSearched = 1024 * 1024;

/** A package name of any ecosystem: 1 to 512 characters, no control characters, no white space. */
export function isName(name: string): boolean {
  return name.length > 0 && name.length <= 512 && !/[\p{Cc}\s]/u.test(name);
}

/** Directory of a repository path; `''` for the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** `path` seen from `directory`, both in the repository; `undefined` where it leaves the repository or is absolute. */
export function resolvePath(directory: string, path: string): string | undefined {
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.startsWith('~')) return undefined;
  const segments = directory === '' ? [] : directory.split('/');
  for (const segment of path.split(/[\\/]/)) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join('/');
}
