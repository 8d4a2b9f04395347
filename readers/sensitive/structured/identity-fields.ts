import type { Field } from './structure.ts';

/** Fields that name things: what is soft (an address, a word before a value, randomness) says nothing in them. */
interface DocumentKind {
  readonly kind: string;
  /** Members of the outermost object, or attributes of the outermost element, that tell the kind. */
  readonly is: (mark: (name: string) => string) => boolean;
  readonly fields: readonly string[];
  /** Members whose own members do, whatever they are called. */
  readonly holders?: readonly string[];
  /** Members whose own members are of people and what they say. */
  readonly except?: readonly string[];
}

const package_ = wordsOf('purl bom-ref cpe name group version ref dependsOn provides');
const license = wordsOf('expression licenseId licenseDeclared licenseConcluded');
/** In every kind of document. */
const ofPeople = wordsOf(
  'people person persons users user owner owners reviewers approvers author authors contact contributors ' +
    'maintainers manufacturer supplier creators organization individual publisher annotations signatory',
);

const kinds: readonly DocumentKind[] = [
  {
    kind: 'CycloneDX',
    is: (mark) =>
      mark('bomFormat') === 'CycloneDX' || mark('xmlns').startsWith('http://cyclonedx.org/schema/'),
    fields: [...package_, ...license, 'id', 'url', 'content', 'serialNumber', 'swhid', 'omniborId', 'hash'],
    except: ['properties', 'property'],
  },
  {
    kind: 'SPDX',
    is: (mark) => mark('spdxVersion').startsWith('SPDX-') || mark('@context').includes('//spdx.org/'),
    fields: [
      ...license,
      ...wordsOf(
        'SPDXID spdxId @id name versionInfo referenceLocator downloadLocation from to checksumValue ' +
          'hashValue documentNamespace packageFileName fileName spdxElementId relatedSpdxElement ' +
          'documentDescribes hasFiles packageVerificationCodeValue identifier software_packageUrl ' +
          'software_packageVersion software_downloadLocation',
      ),
    ],
  },
  {
    kind: 'SARIF',
    is: (mark) =>
      mark('$schema').includes('sarif') || (mark('runs') !== '' && mark('version').startsWith('2.')),
    fields: wordsOf(
      'ruleId id guid correlationGuid version semanticVersion dottedQuadFileVersion uri uriBaseId ' +
        'informationUri helpUri downloadUri repositoryUri revisionId fullyQualifiedName decoratedName ' +
        'automationId baselineGuid',
    ),
  },
  {
    kind: 'in-toto',
    is: (mark) =>
      mark('_type').startsWith('https://in-toto.io/') ||
      mark('payloadType').startsWith('application/vnd.in-toto') ||
      mark('mediaType').startsWith('application/vnd.dev.sigstore.'),
    fields: wordsOf(
      '_type predicateType name uri id buildType builder invocationId buildInvocationId ' +
        'downloadLocation entryPoint configSource payload sig keyid rawBytes signature ' +
        'canonicalizedBody signedEntryTimestamp keyId rootHash hashes logIndex signedTimestamp',
    ),
    except: ['environment', 'parameters', 'externalParameters', 'internalParameters'],
  },
  {
    kind: 'OpenAPI',
    is: (mark) => /^[23]\./.test(mark('openapi')) || mark('swagger') === '2.0',
    fields: ['$ref', 'operationId', 'version', 'openapi', 'swagger'],
  },
  {
    kind: 'lockfile',
    is: (mark) => /^[1-9]$/.test(mark('lockfileVersion')),
    fields: ['version', 'resolved', 'integrity', 'requires', 'node'],
    holders: wordsOf('dependencies devDependencies peerDependencies optionalDependencies requires engines'),
  },
];

/** Whatever the document is: what these hold is known by its form. */
const always: Readonly<Record<string, RegExp>> = {
  purl: /^pkg:[a-z][a-z0-9.+-]{1,40}\//,
  'bom-ref': /^pkg:[a-z][a-z0-9.+-]{1,40}\//,
  integrity: /^sha(?:1|256|384|512)-/,
  version: /^v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-+._]?[\w.+-]{1,60})?$/,
};

const oneWord = /^[^\s"'<>`]{1,4096}$/;
const digestName =
  /^(?:sha-?\d{1,3}(?:-\d{3})?|md5|blake2b|blake3|gitCommit|gitTree|gitBlob|digest|hashes|fingerprints|partialFingerprints)$/;
const digestForm = /^[A-Za-z0-9+/=_:.-]{8,256}$/;

/** Members that tell what kind of document it is. */
export const markNames: ReadonlySet<string> = new Set(
  wordsOf(
    'bomFormat xmlns spdxVersion @context $schema runs version _type payloadType mediaType openapi swagger lockfileVersion',
  ),
);

/** Tells which fields of a document name things. */
type IsIdentity = (field: Field, value: string) => boolean;

/** By what the outermost object of a document says of itself; `marks` holds members of `markNames`. */
export function identityFields(marks: ReadonlyMap<string, string>): IsIdentity {
  const mark = (name: string): string => marks.get(name) ?? '';
  const fields = new Set<string>();
  const holders = new Set<string>();
  const except = new Set(ofPeople);
  let isKnown = false;
  for (const kind of kinds) {
    if (!kind.is(mark)) continue;
    isKnown = true;
    for (const name of kind.fields) fields.add(name);
    for (const name of kind.holders ?? []) holders.add(name);
    for (const name of kind.except ?? []) except.add(name);
  }
  return ({ name, holder }, value) => {
    const isNamed = fields.has(name) || holders.has(holder);
    if (isNamed && !except.has(holder) && !except.has(name) && oneWord.test(value)) return true;
    if (isKnown && (digestName.test(name) || digestName.test(holder)) && digestForm.test(value)) return true;
    return always[name]?.test(value) === true && oneWord.test(value);
  };
}

function wordsOf(text: string): readonly string[] {
  return text.split(' ');
}
