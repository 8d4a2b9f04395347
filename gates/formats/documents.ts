/* Checks documents of known formats: in-toto, inclusion proofs, SPDX, CycloneDX. */
import { readReportJson } from '../reports/read-xml.ts';
import { reportBounds } from '../reports/test-report.ts';

const statementTypes: readonly unknown[] = [
  'https://in-toto.io/Statement/v1',
  'https://in-toto.io/Statement/v0.1',
];
const payloadType = 'application/vnd.in-toto+json';
const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** What a document lacks to be an in-toto statement, a DSSE envelope over one, or a sigstore bundle that holds one. */
export function inTotoFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  if (value.dsseEnvelope !== undefined) return envelopeFault(value.dsseEnvelope);
  return value.payloadType === undefined ? statementFault(value) : envelopeFault(value);
}

function envelopeFault(envelope: unknown): string | undefined {
  if (!isObject(envelope)) return 'an envelope that is no object';
  if (envelope.payloadType !== payloadType) return `\`payloadType\` that is not "${payloadType}"`;
  const { payload, signatures } = envelope;
  if (!isText(payload) || !base64.test(payload)) return 'no `payload` in base64';
  if (!Array.isArray(signatures) || signatures.length === 0) return 'no `signatures`';
  if (!signatures.every((one) => isObject(one) && isText(one.sig) && base64.test(one.sig)))
    return 'a signature without `sig` in base64';
  const read = readJson(Buffer.from(payload, 'base64'));
  if ('found' in read) return `a \`payload\` that is ${read.found}`;
  return isObject(read.value) ? statementFault(read.value) : 'a `payload` that is no JSON object';
}

function statementFault(statement: JsonObject): string | undefined {
  if (!statementTypes.includes(statement._type)) return '`_type` that is no in-toto statement';
  if (!isText(statement.predicateType)) return 'no `predicateType`';
  const { subject } = statement;
  if (!Array.isArray(subject) || subject.length === 0) return 'no `subject`';
  const bad = subject.findIndex((one) => !isObject(one) || !hasDigest(one.digest));
  return bad === -1 ? undefined : `no \`digest\` in \`subject[${bad}]\``;
}

function hasDigest(digest: unknown): boolean {
  if (!isObject(digest)) return false;
  const values = Object.values(digest);
  return values.length > 0 && values.every(isText);
}

const number = /^\d{1,16}$/;
const hex = /^[0-9a-f]{64}$/i;
const base64Digest = /^[A-Za-z0-9+/]{43}=$/;

/**
 * What a document lacks to be a Rekor-style inclusion proof, alone or inside a log entry or bundle; `undefined` where
 * it is.
 */
export function inclusionProofFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  const proof = proofIn(value);
  if (!proof) return 'no `inclusionProof`';
  const size = toNumber(proof.treeSize);
  const index = toNumber(proof.logIndex);
  if (size === undefined) return 'no `treeSize`';
  if (index === undefined || index >= size) return 'no `logIndex` below `treeSize`';
  if (!isHash(proof.rootHash)) return 'no `rootHash` of 32 bytes in hex or base64';
  const { hashes = [] } = proof;
  if (!Array.isArray(hashes) || !hashes.every(isHash)) return 'no `hashes` of 32 bytes each';
  return hashes.length > 64 ? `${hashes.length} \`hashes\`, more than a tree can have levels` : undefined;
}

/**
 * Where the formats put it: on its own, in an entry, in an entry's `verification`, in a bundle's first entry, under a
 * Rekor UUID.
 */
function proofIn(value: JsonObject): JsonObject | undefined {
  if (value.rootHash !== undefined) return value;
  const material = isObject(value.verificationMaterial) ? value.verificationMaterial : value;
  const entries = material.tlogEntries;
  const values = Object.values(value);
  const entry = Array.isArray(entries)
    ? entries[0]
    : values.length === 1 && isObject(values[0])
      ? values[0]
      : value;
  if (!isObject(entry)) return undefined;
  const holder = isObject(entry.verification) ? entry.verification : entry;
  if (isObject(holder.inclusionProof)) return holder.inclusionProof;
  return isObject(value.inclusionProof) ? value.inclusionProof : undefined;
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'string' && number.test(value)) return Number(value);
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}

function isHash(value: unknown): boolean {
  return isText(value) && (hex.test(value) || base64Digest.test(value));
}

const identifier = /^SPDXRef-[A-Za-z0-9.-]+$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const creator = /^(?:Tool|Organization|Person): ./;

/** What a document lacks to be SPDX 2.2 or 2.3 JSON (mandatory fields of clauses 6 and 7); `undefined` where it is. */
export function spdxFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  const { spdxVersion, dataLicense, SPDXID, name, documentNamespace, creationInfo, packages } = value;
  if (spdxVersion !== 'SPDX-2.3' && spdxVersion !== 'SPDX-2.2')
    return '`spdxVersion` that is neither "SPDX-2.3" nor "SPDX-2.2"';
  if (dataLicense !== 'CC0-1.0') return '`dataLicense` that is not "CC0-1.0"';
  if (SPDXID !== 'SPDXRef-DOCUMENT') return '`SPDXID` that is not "SPDXRef-DOCUMENT"';
  if (!isText(name)) return 'no `name`';
  if (!isText(documentNamespace) || !/^[A-Za-z][A-Za-z0-9+.-]*:[^#]+$/.test(documentNamespace))
    return 'no `documentNamespace` that is a URI without `#`';
  if (!isObject(creationInfo)) return 'no `creationInfo`';
  if (!isText(creationInfo.created) || !instant.test(creationInfo.created))
    return 'no `creationInfo.created` of the form YYYY-MM-DDThh:mm:ssZ';
  const { creators } = creationInfo;
  if (
    !Array.isArray(creators) ||
    creators.length === 0 ||
    !creators.every((one) => isText(one) && creator.test(one))
  )
    return 'no `creationInfo.creators` that name a tool, organization or person';
  if (packages === undefined) return undefined;
  if (!Array.isArray(packages)) return '`packages` that are no list';
  return packageFault(packages);
}

function packageFault(packages: readonly unknown[]): string | undefined {
  const ids = new Set<string>();
  for (const [index, entry] of packages.entries()) {
    const where = `\`packages[${index}]\``;
    if (!isObject(entry)) return `no object at ${where}`;
    const { SPDXID, name, downloadLocation } = entry;
    if (!isText(SPDXID) || !identifier.test(SPDXID)) return `no \`SPDXID\` in ${where}`;
    if (ids.has(SPDXID)) return `an \`SPDXID\` that another package has too in ${where}`;
    if (!isText(name)) return `no \`name\` in ${where}`;
    if (!isText(downloadLocation)) return `no \`downloadLocation\` in ${where}`;
    ids.add(SPDXID);
  }
  return undefined;
}

/** JSON versions of the standard (ECMA-424 is 1.6). */
const versions: readonly unknown[] = ['1.2', '1.3', '1.4', '1.5', '1.6', '1.7'];
const componentTypes: readonly unknown[] = [
  'application',
  'framework',
  'library',
  'container',
  'platform',
  'operating-system',
  'device',
  'device-driver',
  'firmware',
  'file',
  'machine-learning-model',
  'data',
  'cryptographic-asset',
];
const serial = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const maxDepth = 64;

/**
 * What a document lacks to be a CycloneDX JSON BOM (required members and unique `bom-ref`); `undefined` where it is.
 */
export function cyclonedxFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  const { bomFormat, specVersion, serialNumber, version, metadata, components, dependencies } = value;
  if (bomFormat !== 'CycloneDX') return '`bomFormat` that is not "CycloneDX"';
  if (!versions.includes(specVersion)) return `\`specVersion\` that is none of ${versions.join(', ')}`;
  if (serialNumber !== undefined && !(isText(serialNumber) && serial.test(serialNumber)))
    return '`serialNumber` that is no lower-case `urn:uuid:`';
  if (version !== undefined && !(Number.isInteger(version) && Number(version) >= 1))
    return '`version` that is no integer from 1';
  const refs = new Set<string>();
  const root = isObject(metadata) ? metadata.component : undefined;
  const fault =
    (metadata !== undefined && !isObject(metadata) ? '`metadata` that is no object' : undefined) ??
    (root === undefined ? undefined : componentFault(root, '`metadata.component`', refs, 0)) ??
    listFault(components, 'components', refs, 0);
  return fault ?? dependencyFault(dependencies);
}

function listFault(components: unknown, name: string, refs: Set<string>, depth: number): string | undefined {
  if (components === undefined) return undefined;
  if (!Array.isArray(components)) return `\`${name}\` that is no list`;
  if (depth > maxDepth) return `components nested deeper than ${maxDepth}`;
  for (const [index, component] of components.entries()) {
    const fault = componentFault(component, `\`${name}[${index}]\``, refs, depth);
    if (fault) return fault;
  }
  return undefined;
}

function componentFault(
  component: unknown,
  where: string,
  refs: Set<string>,
  depth: number,
): string | undefined {
  if (!isObject(component)) return `no object at ${where}`;
  if (!componentTypes.includes(component.type)) return `no known \`type\` in ${where}`;
  if (!isText(component.name)) return `no \`name\` in ${where}`;
  const ref = component['bom-ref'];
  if (ref !== undefined) {
    if (!isText(ref)) return `\`bom-ref\` that is no text in ${where}`;
    if (refs.has(ref)) return `a \`bom-ref\` that another component has too in ${where}`;
    refs.add(ref);
  }
  return listFault(component.components, 'components', refs, depth + 1);
}

/** A dependency may also be a service, so a `ref` only has to be text. Whether it resolves is not checked. */
function dependencyFault(dependencies: unknown): string | undefined {
  if (dependencies === undefined) return undefined;
  if (!Array.isArray(dependencies)) return '`dependencies` that are no list';
  const bad = dependencies.findIndex((entry) => !isObject(entry) || !isText(entry.ref));
  return bad === -1 ? undefined : `no \`ref\` in \`dependencies[${bad}]\``;
}

/** Components of a document without fault, nested ones too, by `bom-ref`. */
export function componentsByRef({ metadata, components }: JsonObject): ReadonlyMap<string, JsonObject> {
  const byRef = new Map<string, JsonObject>();
  const waiting: unknown[] = [isObject(metadata) ? metadata.component : undefined, components];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) for (const one of next) waiting.push(one);
    if (!isObject(next)) continue;
    if (isText(next['bom-ref'])) byRef.set(next['bom-ref'], next);
    if (next.components !== undefined) waiting.push(next.components);
  }
  return byRef;
}

/** Property of a vulnerability of a scanner's report: `new` or `unchanged`, compared with the report at the base. */
export const baselineProperty = 'writ:baseline-state';

/** The first property of that name, of metadata, a component or a vulnerability. */
export function propertyOf(holder: unknown, name: string): string | undefined {
  const properties = isObject(holder) && Array.isArray(holder.properties) ? holder.properties : [];
  const found: unknown = properties.find((one) => isObject(one) && one.name === name);
  return isObject(found) && isText(found.value) ? found.value : undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The parsed document, or in words what the bytes are instead. Bounds: `reportBounds`. */
export function readJson(bytes: Uint8Array): { readonly value: unknown } | { readonly found: string } {
  if (bytes.length === 0) return { found: 'an empty file' };
  if (bytes.length > reportBounds.bytes)
    return { found: `${bytes.length} bytes, more than the ${reportBounds.bytes} that are read` };
  const { value, refusal } = readReportJson(bytes);
  if (!refusal) return { value };
  return { found: words[refusal.reason] ?? `JSON of another size: ${refusal.message}` };
}

const words: Readonly<Record<string, string>> = {
  encoding: 'bytes that are not UTF-8',
  malformed: 'text that is not JSON',
  duplicate: 'JSON in which an object names a member twice',
  truncated: 'JSON that is cut off',
};

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; empty if the value is not a list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
