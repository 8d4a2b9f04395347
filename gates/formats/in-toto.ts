import { isObject, isText, type JsonObject, readJson } from './read-json.ts';

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
