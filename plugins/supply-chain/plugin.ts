/* The built-in producers of `sbom` and `sca-report`. */
import { sha256Hex } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import { type ArtifactProducer, declaredFormat, type Produced } from '../../core/interfaces/artifact.ts';
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import type { Advisory, AdvisoryDatabase } from '../../readers/advisories/advisory.ts';
import {
  ignoredBy,
  readExclude,
  readScaOptions,
  type ScaOptions,
} from '../../readers/advisories/sca-options.ts';
import { scanPackages, type Vulnerability } from '../../readers/advisories/scan-packages.ts';
import type { LockedPackage } from '../../readers/packages/apply-manifests.ts';
import { advisoryDir, openAdvisoryDatabase } from './advisories/open-advisory-database.ts';
import {
  type Bill,
  type BillPackage,
  billOf,
  propertiesOf,
  readCandidatePackages,
  toCycloneDx,
  toJsonBytes,
} from './bill.ts';

const rootId = 'SPDXRef-repository';
const checksumNames: Readonly<Record<string, string>> = {
  md5: 'MD5',
  sha1: 'SHA1',
  sha256: 'SHA256',
  sha384: 'SHA384',
  sha512: 'SHA512',
};

/**
 * Builds an SPDX 2.3 JSON document from a bill; the same bill gives the same document. An unknown value is
 * NOASSERTION, and an annotation lists it.
 */
async function toSpdx(bill: Bill): Promise<object> {
  const { default: parseExpression } = await import('spdx-expression-parse');
  const created = `${new Date(bill.timeMs).toISOString().slice(0, 19)}Z`;
  const ids = new Map(
    bill.packages.map(({ purl }) => [purl, `SPDXRef-Package-${sha256Hex(purl).slice(0, 32)}`]),
  );
  const extracted = new Map<string, string>();
  const license = (one: BillPackage): string => {
    const [stated, ...others] = one.licenses;
    if (stated === undefined || others.length > 0) return 'NOASSERTION';
    if (stated === 'NONE' || isExpression(parseExpression, stated)) return stated;
    const id = `LicenseRef-${sha256Hex(stated).slice(0, 16)}`;
    extracted.set(id, stated);
    return id;
  };
  const packages = bill.packages.map((one) => toPackage(one, ids.get(one.purl) ?? '', license(one), created));
  const idOf = (purl: string): string => ids.get(purl) ?? '';
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: bill.subject,
    documentNamespace: `urn:uuid:${uuidV7From(bill.timeMs, JSON.stringify(['spdx', bill]))}`,
    creationInfo: { created, creators: ['Tool: writ'], ...commentOf(bill.properties) },
    packages: [
      {
        SPDXID: rootId,
        name: bill.subject,
        downloadLocation: 'NOASSERTION',
        filesAnalyzed: false,
        licenseConcluded: 'NOASSERTION',
        licenseDeclared: 'NOASSERTION',
        copyrightText: 'NOASSERTION',
        primaryPackagePurpose: 'SOURCE',
      },
      ...packages,
    ],
    ...(extracted.size === 0
      ? {}
      : {
          hasExtractedLicensingInfos: [...extracted]
            .sort(([left], [right]) => (left < right ? -1 : 1))
            .map(([licenseId, extractedText]) => ({ licenseId, extractedText, name: extractedText })),
        }),
    relationships: [
      relationship('SPDXRef-DOCUMENT', 'DESCRIBES', rootId),
      ...bill.packages.filter(({ direct }) => direct).map((one) => rootEdge(one, idOf(one.purl))),
      ...bill.packages.flatMap(({ purl, dependsOn }) =>
        dependsOn.map((other) => relationship(idOf(purl), 'DEPENDS_ON', idOf(other))),
      ),
    ],
  };
}

function toPackage(one: BillPackage, id: string, licenseDeclared: string, created: string): object {
  const checksums = one.integrity.flatMap(({ algorithm, value }) => {
    const known = checksumNames[algorithm];
    return known === undefined ? [] : [{ algorithm: known, checksumValue: value }];
  });
  const properties = propertiesOf(one);
  return {
    SPDXID: id,
    name: one.name,
    ...(one.version === '' ? {} : { versionInfo: one.version }),
    downloadLocation: downloadLocation(one),
    filesAnalyzed: false,
    ...(checksums.length === 0 ? {} : { checksums }),
    licenseConcluded: 'NOASSERTION',
    licenseDeclared,
    copyrightText: 'NOASSERTION',
    primaryPackagePurpose: 'LIBRARY',
    externalRefs: [
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: one.purl },
    ],
    ...(properties.length === 0
      ? {}
      : {
          annotations: properties.map(([key, value]) => ({
            annotationDate: created,
            annotationType: 'OTHER',
            annotator: 'Tool: writ',
            comment: `${key}=${value}`,
          })),
        }),
  };
}

/** Clause 7.7 of SPDX 2.3: a URI, for a repository with the tool in front. */
function downloadLocation({ source, origin = '' }: BillPackage): string {
  if (source === 'git' && /^[a-z]+:\/\/[^\s]+$/.test(origin)) return `git+${origin}`;
  return source === 'url' && /^https?:\/\/[^\s]+$/.test(origin) ? origin : 'NOASSERTION';
}

function rootEdge({ scope }: BillPackage, id: string): object {
  if (scope === 'development') return relationship(id, 'DEV_DEPENDENCY_OF', rootId);
  if (scope === 'optional') return relationship(id, 'OPTIONAL_DEPENDENCY_OF', rootId);
  return relationship(rootId, 'DEPENDS_ON', id);
}

function relationship(spdxElementId: string, relationshipType: string, relatedSpdxElement: string): object {
  return { spdxElementId, relationshipType, relatedSpdxElement };
}

function commentOf(properties: Bill['properties']): { readonly comment?: string } {
  return properties.length === 0
    ? {}
    : { comment: properties.map(([key, value]) => `${key}=${value}`).join('\n') };
}

function isExpression(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Describes the parts of a candidate if no check delivered a report: `sbom`, and `sca-report` from the user's
 * advisories.
 */
export function supplyChainPlugin({ env }: Pick<ScaReportOptions, 'env'>): LoadedPlugin {
  return definePlugin({
    name: 'supply-chain',
    api: 1,
    enforces: ['artifacts.required.name=sbom'],
    setup({ slots, clock }) {
      slots.artifact.add('sbom', sbomProducer);
      slots.artifact.add('sca-report', createScaReportProducer({ env, clock }));
      return undefined;
    },
  });
}

/**
 * `sbom`: all dependency files of the candidate as CycloneDX 1.6 (or 1.7) or SPDX 2.3 JSON, as the spec declares. It
 * is not made if one of them cannot be read. A tree without any gives only the project, and a note that it had none.
 */
export const sbomProducer: ArtifactProducer = {
  contentType: 'application/vnd.cyclonedx+json; version=1.6',
  extension: 'json',
  async produce(request) {
    const { name, version = '' } = declaredFormat(request.spec, 'sbom');
    const isSpdx = name === 'spdx-json' && (version === '' || version === '2.3');
    const isCycloneDx =
      (name === '' || name === 'cyclonedx-json' || name === 'json') && /^(?:1\.[67])?$/.test(version);
    if (!isSpdx && !isCycloneDx)
      return { unmade: 'writ makes `cyclonedx-json` (version 1.6 or 1.7) and `spdx-json` (version 2.3)' };
    const { exclude, problem } = readExclude(request.ruleOptions.sbom ?? {});
    if (problem !== undefined)
      return {
        unmade: `\`[rules.sbom]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
      };
    const found = await readCandidatePackages(request, exclude);
    if ('unmade' in found) return found;
    const bill = billOf(request, found, request.baseTimeMs);
    return toJsonBytes(
      isSpdx ? await toSpdx(bill) : await toCycloneDx(bill, version === '1.7' ? '1.7' : '1.6'),
    );
  },
};

/** The location of the user's advisory database, and the clock for its age. */
interface ScaReportOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/**
 * `sca-report`: every package of the candidate looked up in the advisories that this user imported, as a CycloneDX 1.6
 * document with `vulnerabilities` (VDR). Never over a network. Not made if a dependency file cannot be read.
 * ADVISORIES_MISSING, ADVISORIES_CORRUPT.
 */
export function createScaReportProducer({ env, clock }: ScaReportOptions): ArtifactProducer {
  const open = (): AdvisoryDatabase => {
    const database = openAdvisoryDatabase(advisoryDir(env));
    if (database === undefined) throw new WritError('ADVISORIES_MISSING');
    return database;
  };
  return {
    contentType: 'application/vnd.cyclonedx+json; version=1.6',
    extension: 'json',
    requireReady: () => void open(),
    async produce(request): Promise<Produced> {
      const { name, version = '1.6' } = declaredFormat(request.spec, 'sca-report');
      if (!['', 'json', 'cyclonedx-json'].includes(name) || version !== '1.6')
        return { unmade: 'writ makes `cyclonedx-json` (version 1.6)' };
      const options = readScaOptions(request.ruleOptions.sca ?? {});
      if ('problems' in options)
        return {
          unmade: `\`[rules.sca]\` in \`.writ/config.toml\` at the policy commit is wrong: ${options.problems.join('; ')}`,
        };
      const found = await readCandidatePackages(request, options.exclude);
      if ('unmade' in found) return found;
      const database = open();
      const nowMs = clock.now();
      const bill = billOf(request, found, nowMs);
      const properties = [...bill.properties, ...databaseProperties(database, found.packages, nowMs)];
      const document = await toCycloneDx({ ...bill, properties }, '1.6');
      const vulnerabilities = toVulnerabilities(scanPackages(found.packages, database), options, nowMs);
      return { bytes: toJsonBytes({ ...document, vulnerabilities }), madeFrom: [toThing(database)] };
    },
  };
}

function toThing({ digest }: AdvisoryDatabase) {
  return { name: 'advisories', uri: 'urn:writ:advisories', digest: { sha256: digest } };
}

/** Properties of a report that describe the database used for the lookup. */
function databaseProperties(
  database: AdvisoryDatabase,
  packages: readonly LockedPackage[],
  nowMs: number,
): readonly (readonly [key: string, value: string])[] {
  const counts = new Map<LockedPackage['ecosystem'], number>();
  for (const { ecosystem } of packages) counts.set(ecosystem, (counts.get(ecosystem) ?? 0) + 1);
  return [
    ['writ:advisories:digest', `sha256:${database.digest}`],
    ['writ:advisories:imported', database.importedAt],
    ['writ:advisories:newest', database.newest],
    ['writ:advisories:age-days', String(ageDays(database, nowMs))],
    ['writ:packages', String(packages.length)],
    ...[...counts]
      .sort()
      .flatMap(([ecosystem, count]) => [
        [`writ:packages:${ecosystem}`, String(count)] as const,
        [`writ:advisories:${ecosystem}`, String(database.ecosystems[ecosystem] ?? 0)] as const,
      ]),
  ];
}

/** Whole days since the newest record. Importing an old file again does not reduce the age. */
function ageDays({ newest, importedAt }: AdvisoryDatabase, nowMs: number): number {
  const at = Math.min(Date.parse(newest || importedAt), Date.parse(importedAt));
  return Math.max(0, Math.floor((nowMs - at) / 86_400_000));
}

/**
 * `vulnerabilities` of CycloneDX 1.6, sorted by id: what is affected, how bad it is, and what the config at the policy
 * commit looks away from.
 */
function toVulnerabilities(
  found: readonly Vulnerability[],
  options: ScaOptions,
  nowMs: number,
): readonly object[] {
  return found.map(({ advisory, severity, affects }) => {
    const ids = [advisory.id, ...advisory.aliases];
    const purls = affects.map((one) => one.found.purl);
    const ignored = ignoredBy(options, ids, purls, nowMs);
    return {
      'bom-ref': `vulnerability:${advisory.id}`,
      id: advisory.id,
      source: sourceOf(advisory.id),
      ...(advisory.aliases.length === 0
        ? {}
        : { references: advisory.aliases.map((id) => ({ id, source: sourceOf(id) })) }),
      ratings: [{ severity }, ...advisory.ratings.map(toRating)],
      ...(advisory.cwes.length === 0 ? {} : { cwes: advisory.cwes }),
      ...(advisory.summary === undefined ? {} : { description: advisory.summary }),
      ...(advisory.references.length === 0
        ? {}
        : { advisories: advisory.references.map((url) => ({ url })) }),
      ...(advisory.published === undefined ? {} : { published: advisory.published }),
      updated: advisory.modified,
      ...(ignored?.isInForce
        ? {
            analysis: {
              state: 'in_triage',
              detail: `ignored until ${ignored.entry.until}: ${ignored.entry.reason}`,
            },
          }
        : {}),
      affects: affects.map(toAffect),
    };
  });
}

function toRating({ method, vector, score, severity }: Advisory['ratings'][number]): object {
  return {
    ...(score === undefined ? {} : { score }),
    severity,
    method,
    ...(vector === undefined ? {} : { vector }),
  };
}

/** A package without a fixed version may be installed in any. */
function toAffect({ found, verdict }: Vulnerability['affects'][number]): object {
  const type = /^pkg:([a-z]+)\//.exec(found.purl)?.[1] ?? 'generic';
  const version = found.version === '' ? { range: `vers:${type}/*` } : { version: found.version };
  return { ref: found.purl, versions: [{ ...version, status: verdict }] };
}

/** Names a database by the form of its ids; the address is where OSV shows them all. */
function sourceOf(id: string): object {
  const url = `https://osv.dev/vulnerability/${encodeURIComponent(id)}`;
  const [, prefix = ''] = /^([A-Za-z]+)-/.exec(id) ?? [];
  return { name: prefix === '' ? 'OSV' : prefix, url };
}
