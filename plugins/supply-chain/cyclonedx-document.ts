import type { Models } from '@cyclonedx/cyclonedx-library';
import { uuidV7From } from '../../core/base/ids.ts';
import type { Bill } from './bill.ts';
import { type BillPackage, propertiesOf } from './bill-package.ts';

type Library = typeof import('@cyclonedx/cyclonedx-library');
type Licenses = InstanceType<Library['Contrib']['License']['Factories']['LicenseFactory']>;

/** A CycloneDX document as JSON data. */
type CycloneDxDocument = Readonly<Record<string, unknown>>;

const rootRef = 'repository';

/**
 * A CycloneDX JSON document over a bill. Same bill, same document on every machine: the serial number comes from the
 * bill, and lists stand in the order of code units (the library's own sorting depends on the locale, so it is not
 * used).
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
