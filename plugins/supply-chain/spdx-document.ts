import { sha256Hex } from '../../core/base/digest.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { Bill } from './bill.ts';
import { type BillPackage, propertiesOf } from './bill-package.ts';

const rootId = 'SPDXRef-repository';
const checksumNames: Readonly<Record<string, string>> = {
  md5: 'MD5',
  sha1: 'SHA1',
  sha256: 'SHA256',
  sha384: 'SHA384',
  sha512: 'SHA512',
};

/**
 * An SPDX 2.3 JSON document over a bill; same bill, same document. What is not known is NOASSERTION, and an annotation
 * says what.
 */
export async function toSpdx(bill: Bill): Promise<object> {
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
