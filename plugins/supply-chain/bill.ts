/* Collects a bill of materials and writes it as CycloneDX. */
import type { Models } from '@cyclonedx/cyclonedx-library';
import { compileGlob } from '../../core/base/glob.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { ArtifactRequest } from '../../core/interfaces/artifact.ts';
import {
  isDependencyFile,
  type LockedPackage,
  type PackageSet,
  readPackageSet,
} from '../../readers/packages/apply-manifests.ts';
import { fileKind } from '../../readers/packages/file-kind.ts';

/** What a bill of materials is written from, whatever its format. */
export interface Bill {
  /** Name of the repository. */
  readonly subject: string;
  /** Epoch milliseconds. */
  readonly timeMs: number;
  readonly packages: readonly BillPackage[];
  /** `writ:<key>` and value: what is to be known about the whole. */
  readonly properties: readonly (readonly [key: string, value: string])[];
}

/** The bill of a candidate. */
export function billOf(
  { spec, patch }: Pick<ArtifactRequest, 'spec' | 'patch'>,
  { packages, notes, files, excluded }: CandidatePackages,
  timeMs: number,
): Bill {
  return {
    subject: nameOf(spec.metadata.target.repo.locator),
    timeMs,
    packages: toBill(packages),
    properties: [
      ['writ:tree', patch.candidateTree],
      ['writ:dependency-files', String(files.length)],
      ...excluded.map((glob) => ['writ:excluded', glob] as const),
      ...notes.map(({ path, reason }) => ['writ:read-in-part', `${path}: ${reason}`] as const),
    ],
  };
}

function nameOf(locator: string): string {
  const last = locator.replace(/\/+$/, '').split(/[/:]/).at(-1);
  return last?.replace(/\.git$/, '') || 'repository';
}

/** One package of a bill of materials: all statements in the repository's files about one purl. */
export interface BillPackage {
  readonly purl: string;
  readonly ecosystem: LockedPackage['ecosystem'];
  readonly name: string;
  /** Empty where no file fixes one. */
  readonly version: string;
  readonly direct: boolean;
  readonly scope: LockedPackage['scope'];
  /** All stated licenses; more than one if files disagree. */
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
function toBill(packages: readonly LockedPackage[]): readonly BillPackage[] {
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

type Library = typeof import('@cyclonedx/cyclonedx-library');
type Licenses = InstanceType<Library['Contrib']['License']['Factories']['LicenseFactory']>;

/** A CycloneDX document as JSON data. */
type CycloneDxDocument = Readonly<Record<string, unknown>>;

const rootRef = 'repository';

/**
 * Builds a CycloneDX JSON document from a bill. The same bill gives the same document on every machine. The serial
 * number derives from the bill, and lists are sorted by code units. The library's own sorting depends on the locale,
 * so it is not used.
 */
export async function toCycloneDx(bill: Bill, version: '1.6' | '1.7'): Promise<CycloneDxDocument> {
  const [library, { default: parseExpression }] = await Promise.all([
    import('@cyclonedx/cyclonedx-library'),
    import('spdx-expression-parse'),
  ]);
  const { Enums, Models, Serialize, Spec } = library;
  const licenses = new library.Contrib.License.Factories.LicenseFactory((text) => void parseExpression(text));
  const bom = new Models.Bom();
  bom.serialNumber = `urn:uuid:${uuidV7From(bill.timeMs, JSON.stringify([version, bill]))}`;
  bom.metadata.timestamp = new Date(bill.timeMs);
  bom.metadata.lifecycles.add(Enums.LifecyclePhase.PreBuild);
  bom.metadata.tools.components.add(
    new Models.Component(Enums.ComponentType.Application, 'writ', { bomRef: 'tool:writ' }),
  );
  bom.metadata.properties.add(new Models.Property('cdx:reproducible', 'true'));
  for (const [key, value] of bill.properties) bom.metadata.properties.add(new Models.Property(key, value));

  const root = new Models.Component(Enums.ComponentType.Application, bill.subject, { bomRef: rootRef });
  bom.metadata.component = root;
  const components = new Map(bill.packages.map((one) => [one.purl, toComponent(library, licenses, one)]));
  for (const one of bill.packages) {
    const component = components.get(one.purl);
    if (component === undefined) continue;
    bom.components.add(component);
    if (one.direct) root.dependencies.add(component.bomRef);
    for (const other of one.dependsOn) {
      const target = components.get(other);
      if (target !== undefined) component.dependencies.add(target.bomRef);
    }
  }
  const spec = version === '1.7' ? Spec.Spec1dot7 : Spec.Spec1dot6;
  const normal = new Serialize.JSON.Normalize.Factory(spec).makeForBom();
  return { ...normal.normalize(bom, { sortLists: false }) };
}

/** The bytes of a document. */
export function toJsonBytes(document: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`);
}

const hashNames: Readonly<Record<string, string>> = {
  md5: 'MD5',
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};

function toComponent({ Enums, Models }: Library, licenses: Licenses, one: BillPackage): Models.Component {
  const { group, name } = splitName(one);
  const component = new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: one.purl,
    purl: one.purl,
    ...(group === '' ? {} : { group }),
    ...(one.version === '' ? {} : { version: one.version }),
    ...scopeOf(Enums, one),
  });
  const [stated, ...others] = one.licenses;
  if (stated !== undefined && others.length === 0) {
    const license = licenses.makeFromString(stated);
    license.acknowledgement = Enums.LicenseAcknowledgement.Declared;
    component.licenses.add(license);
  }
  for (const { algorithm, value } of one.integrity) {
    const known = hashNames[algorithm];
    if (known !== undefined) component.hashes.set(known as Parameters<typeof component.hashes.set>[0], value);
  }
  if (one.origin !== undefined && (one.source === 'git' || one.source === 'url')) {
    const { VCS, Distribution } = Enums.ExternalReferenceType;
    component.externalReferences.add(
      new Models.ExternalReference(one.origin, one.source === 'git' ? VCS : Distribution),
    );
  }
  for (const [key, value] of propertiesOf(one)) component.properties.add(new Models.Property(key, value));
  return component;
}

/** Group and name as purl splits them into namespace and name. */
function splitName({ ecosystem, name }: BillPackage): { readonly group: string; readonly name: string } {
  const at = ecosystem === 'maven' ? name.indexOf(':') : name.lastIndexOf('/');
  return { group: name.slice(0, Math.max(at, 0)), name: name.slice(at + 1) };
}

/** CycloneDX calls `excluded` what is not reachable at run time. */
function scopeOf(
  { ComponentScope }: Library['Enums'],
  { scope }: BillPackage,
): { scope?: NonNullable<Models.Component['scope']> } {
  if (scope === 'unknown') return {};
  if (scope === 'development') return { scope: ComponentScope.Excluded };
  return { scope: scope === 'optional' ? ComponentScope.Optional : ComponentScope.Required };
}

/** Every package that the candidate's dependency files name, and the files. */
interface CandidatePackages extends PackageSet {
  /** Sorted. */
  readonly files: readonly string[];
  readonly excluded: readonly string[];
}

const maxFiles = 5000;
const maxTotalBytes = 256 * 1024 * 1024;
const maxShown = 5;
const parallel = 8;

/**
 * Reads all dependency files except those that `exclude` (globs) matches. Returns a reason instead if the set would
 * be incomplete, because a partial list looks like a complete one.
 */
export async function readCandidatePackages(
  request: Pick<ArtifactRequest, 'listCandidate' | 'readCandidate'>,
  exclude: readonly string[],
): Promise<CandidatePackages | { readonly unmade: string }> {
  const globs = exclude.map(compileGlob);
  const listed = (await request.listCandidate()).filter((path) => !globs.some((glob) => glob.matches(path)));
  const found = listed.filter(isDependencyFile).sort();
  // A requirements file may include one of any name.
  const mayInclude = found.some((path) =>
    ['requirements.txt', 'setup.cfg'].includes(fileKind(path)?.id ?? ''),
  );
  const others = mayInclude
    ? listed.filter((path) => /\.(?:txt|in)$/.test(path) && !isDependencyFile(path))
    : [];
  const paths = [...found, ...others.slice(0, maxFiles)];
  if (found.length > maxFiles) return { unmade: `the candidate has more than ${maxFiles} dependency files` };
  const files = new Map<string, Uint8Array>();
  let total = 0;
  for (let at = 0; at < paths.length; at += parallel) {
    const chunk = paths.slice(at, at + parallel);
    const contents = await Promise.all(chunk.map((path) => request.readCandidate(path)));
    for (const [index, bytes] of contents.entries()) {
      const path = chunk[index];
      if (bytes === undefined || path === undefined) continue;
      total += bytes.length;
      files.set(path, bytes);
    }
    if (total > maxTotalBytes) return { unmade: `dependency files hold more than ${maxTotalBytes} bytes` };
  }
  const set = readPackageSet(files);
  if (set.problems.length > 0) return { unmade: inWords(set.problems) };
  return { ...set, files: found, excluded: exclude };
}

function inWords(problems: PackageSet['problems']): string {
  const shown = problems.slice(0, maxShown).map(({ path, reason }) => `\`${path}\`: ${reason}`);
  const more = problems.length > maxShown ? `; and ${problems.length - maxShown} more` : '';
  return `not every dependency can be read: ${shown.join('; ')}${more}`;
}
