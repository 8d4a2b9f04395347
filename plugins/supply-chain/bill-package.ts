import type { LockedPackage } from '../../readers/packages/package-set.ts';

/** One package of a bill of materials: everything that the files of a repository say about one purl. */
export interface BillPackage {
  readonly purl: string;
  readonly ecosystem: LockedPackage['ecosystem'];
  readonly name: string;
  /** Empty where no file fixes one. */
  readonly version: string;
  readonly direct: boolean;
  readonly scope: LockedPackage['scope'];
  /** All that is said; more than one where files disagree. */
  readonly licenses: readonly string[];
  readonly integrity: readonly NonNullable<LockedPackage['integrity']>[];
  readonly requirements: readonly string[];
  readonly source?: LockedPackage['source'];
  readonly origin?: string;
  readonly resolvedAs?: string;
  readonly dependsOn: readonly string[];
  readonly declaredIn: readonly string[];
}

const scopes: readonly LockedPackage['scope'][] = ['runtime', 'optional', 'development', 'unknown'];

/** One for each purl, sorted by it; only edges to packages of the bill are kept. */
export function toBill(packages: readonly LockedPackage[]): readonly BillPackage[] {
  const byPurl = new Map<string, LockedPackage[]>();
  for (const one of packages) {
    const same = byPurl.get(one.purl);
    if (same) same.push(one);
    else byPurl.set(one.purl, [one]);
  }
  return [...byPurl]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([purl, same]): BillPackage[] => {
      const [first] = same;
      if (first === undefined) return [];
      const { ecosystem, name, version, source, resolvedAs } = first;
      const origin = same.find((one) => one.origin)?.origin;
      const integrity = new Map(
        same.flatMap((one) => (one.integrity ? [[JSON.stringify(one.integrity), one.integrity]] : [])),
      );
      return [
        {
          purl,
          ecosystem,
          name,
          version,
          direct: same.some(({ direct }) => direct),
          scope: scopes.find((scope) => same.some((one) => one.scope === scope)) ?? 'unknown',
          licenses: distinct(same.flatMap(({ license }) => (license ? [license] : []))),
          integrity: [...integrity.entries()].sort().map(([, value]) => value),
          requirements: distinct(same.flatMap(({ requirement }) => (requirement ? [requirement] : []))),
          ...(source === undefined ? {} : { source }),
          ...(origin === undefined ? {} : { origin }),
          ...(resolvedAs === undefined ? {} : { resolvedAs }),
          dependsOn: distinct(same.flatMap(({ dependsOn }) => dependsOn)).filter((other) =>
            byPurl.has(other),
          ),
          declaredIn: distinct(same.map(({ declaredIn }) => declaredIn)),
        },
      ];
    });
}

/** What neither format has a field for: `writ:<key>` and its value, sorted. */
export function propertiesOf(one: BillPackage): readonly (readonly [key: string, value: string])[] {
  const unknown = [
    ...(one.version === '' ? ['version'] : []),
    // A value of sealed documents: it is spelled as the first one of them spelled it.
    ...(one.licenses.length === 0 ? ['licence'] : []),
    ...(one.integrity.length === 0 ? ['hash'] : []),
    ...(one.scope === 'unknown' ? ['scope'] : []),
  ];
  const h1 = one.integrity.filter(({ algorithm }) => algorithm === 'h1');
  return [
    ...one.declaredIn.map((path) => ['writ:declared-in', path] as const),
    ...h1.map(({ value }) => ['writ:go:h1', value] as const),
    ...(one.licenses.length > 1
      ? one.licenses.map((text) => ['writ:conflicting-license', text] as const)
      : []),
    ...(one.origin !== undefined && (one.source === 'registry' || one.source === 'path')
      ? [[`writ:${one.source}`, one.origin] as const]
      : []),
    ...one.requirements.map((text) => ['writ:requirement', text] as const),
    ...(one.resolvedAs === undefined ? [] : [['writ:resolved-as', one.resolvedAs] as const]),
    ...unknown.map((what) => ['writ:unknown', what] as const),
  ];
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
