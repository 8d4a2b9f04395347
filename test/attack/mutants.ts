import { formatBundle, parseBundle } from '../../attest/bundle/bundle.ts';
import { type Envelope, preAuthEncoding, signEnvelope } from '../../attest/encoding/dsse.ts';
import { generateKey, toSigner } from '../../attest/keys/key-signer.ts';
import { commitId, copyOf, type SealedRun } from '../attest/verify/sealed-run.ts';
import {
  base64Variants,
  type FieldChange,
  fieldChanges,
  malformings,
  octetChanges,
  rewritings,
} from './mutate.ts';

/** One attack on a set: where it was changed, how, and the set as it is then. */
export interface Mutant {
  /** Key of the table of answers. */
  readonly region: string;
  readonly what: string;
  readonly run: SealedRun;
  /** The file that was changed. */
  readonly file: string;
}

export const provenancePath = 'provenance.sigstore.json';
export const proofPath = 'transparency-proof.tlog-proof';
export const manifestPath = 'evidence-manifest.sigstore.json';

const stranger = toSigner(generateKey('ecdsa-p256-sha256'), false);

export function textOf(of: SealedRun, path: string): string {
  return (of.run.get(path) ?? Buffer.alloc(0)).toString();
}

export function withFile(of: SealedRun, path: string, bytes: string | Buffer): SealedRun {
  const copy = copyOf(of);
  (copy.run.has(path) ? copy.run : copy.content).set(path, Buffer.from(bytes));
  return copy;
}

/** Bundles of a set, by path. */
export function bundlesOf(of: SealedRun): readonly string[] {
  return [...of.run.keys()].filter((path) => path.endsWith('.sigstore.json'));
}

/** Every field of a bundle, every way to write it otherwise, every base64 in it in another form. */
export function* bundleMutants(of: SealedRun, file: string): Generator<Mutant> {
  const text = textOf(of, file);
  const bundle: unknown = JSON.parse(text);
  for (const { at, what, whole } of fieldChanges(bundle))
    yield { region: `bundle ${at}`, what, file, run: withFile(of, file, JSON.stringify(whole)) };
  for (const [what, changed] of rewritings(text))
    yield { region: 'bundle rewritten', what, file, run: withFile(of, file, changed) };
  for (const [what, changed] of malformings(text))
    yield { region: 'bundle malformed', what, file, run: withFile(of, file, changed) };
  for (const [what, changed] of octetChanges(Buffer.from(text)))
    yield { region: 'bundle octets', what, file, run: withFile(of, file, changed) };
  for (const [at, value] of base64At(bundle))
    for (const [what, changed] of base64Variants(value))
      yield {
        region: `${what === 'URL-safe' ? 'base64url' : 'base64'} ${at}`,
        what,
        file,
        run: withFile(of, file, text.replace(JSON.stringify(value), JSON.stringify(changed))),
      };
}

function base64At(value: unknown, at = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string')
    return value.length >= 24 && /^[A-Za-z0-9+/]+={0,2}$/.test(value) && !/^[0-9a-f]+$/.test(value)
      ? [[at, value]]
      : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => base64At(member, `${at}/${key}`));
}

/** Every field of what was signed, under the old signature and under the signatures of another key. */
export async function* payloadMutants(of: SealedRun, file: string): AsyncGenerator<Mutant> {
  const { envelope, proof } = parseBundle(of.run.get(file) ?? Buffer.alloc(0));
  const withEnvelope = (changed: Envelope): SealedRun =>
    withFile(of, file, formatBundle({ envelope: changed, proof }));
  const fields = eachPlaceOnce(fieldChanges(JSON.parse(envelope.payload.toString())));
  for (const [n, { at, what, whole }] of fields.entries()) {
    const payload = Buffer.from(JSON.stringify(whole));
    yield {
      region: 'payload, old signature',
      what: `${at}: ${what}`,
      file,
      run: withEnvelope({ ...envelope, payload }),
    };
    if (n % 4 > 0) continue;
    const other = await signEnvelope(envelope.payloadType, payload, stranger);
    yield { region: 'payload, another key', what: `${at}: ${what}`, file, run: withEnvelope(other) };
    yield {
      region: 'payload, another key under this name',
      what: `${at}: ${what}`,
      file,
      run: withEnvelope({ ...other, keyId: envelope.keyId }),
    };
  }
}

/** One change for each place of a document, of another kind from place to place. */
export function eachPlaceOnce(changes: Iterable<FieldChange>): readonly FieldChange[] {
  const places = Map.groupBy(changes, ({ at }) => at);
  return [...places.values()].flatMap((ways, n) => ways[n % ways.length] ?? []);
}

/** Lines of a text, each of them changed. */
export function* lineChanges(
  text: string,
): Generator<readonly [line: number, what: string, changed: string]> {
  const lines = text.split('\n');
  for (const [n, line] of lines.entries()) {
    const put = (changed: string): string => lines.with(n, changed).join('\n');
    if (line !== '') {
      for (const at of new Set([0, Math.floor(line.length / 2), line.length - 1]))
        yield [
          n,
          `character ${at} changed`,
          put(line.slice(0, at) + (line[at] === 'A' ? 'B' : 'A') + line.slice(at + 1)),
        ];
      yield [n, 'a blank after it', put(`${line} `)];
      yield [n, 'a carriage return after it', put(`${line}\r`)];
      yield [n, 'a blank before it', put(` ${line}`)];
      yield [n, 'emptied', put('')];
      if (/^\d+$/.test(line)) {
        yield [n, 'one more', put(String(Number(line) + 1))];
        yield [n, 'a zero before it', put(`0${line}`)];
        yield [n, 'as a decimal', put(`${line}.0`)];
        yield [n, 'with an exponent', put(`${line}e0`)];
      }
      for (const cased of new Set([line.toUpperCase(), line.toLowerCase()]))
        if (cased !== line) yield [n, 'case changed', put(cased)];
    }
    yield [n, 'removed', lines.toSpliced(n, 1).join('\n')];
    yield [n, 'doubled', lines.toSpliced(n, 0, line).join('\n')];
    if (n + 1 < lines.length && lines[n + 1] !== line)
      yield [
        n,
        'changed places with the next',
        lines
          .with(n, lines[n + 1] ?? '')
          .with(n + 1, line)
          .join('\n'),
      ];
  }
}

/** Lines of the checkpoint in the bundle and of the proof file, and fields of the logged entry in both. */
export function* logMutants(of: SealedRun): Generator<Mutant> {
  const bundle = parseBundle(of.run.get(provenancePath) ?? Buffer.alloc(0));
  const { proof } = bundle;
  if (proof === undefined) throw new Error('the set under attack is not logged');
  for (const [line, what, checkpoint] of lineChanges(proof.checkpoint))
    yield {
      region: `checkpoint line ${line}`,
      what,
      file: provenancePath,
      run: withFile(of, provenancePath, formatBundle({ ...bundle, proof: { ...proof, checkpoint } })),
    };
  const file = textOf(of, proofPath);
  for (const [line, what, changed] of lineChanges(file))
    yield { region: `proof line ${line}`, what, file: proofPath, run: withFile(of, proofPath, changed) };
  for (const [what, changed] of octetChanges(Buffer.from(file)))
    yield { region: 'proof octets', what, file: proofPath, run: withFile(of, proofPath, changed) };
  for (const { at, what, whole } of fieldChanges(JSON.parse(proof.body.toString()))) {
    const body = Buffer.from(JSON.stringify(whole));
    yield {
      region: `entry ${at}`,
      what,
      file: provenancePath,
      run: withFile(of, provenancePath, formatBundle({ ...bundle, proof: { ...proof, body } })),
    };
    const extra = file.replace(/^extra .*$/m, `extra ${body.toString('base64')}`);
    yield {
      region: 'entry in the proof',
      what: `${at}: ${what}`,
      file: proofPath,
      run: withFile(of, proofPath, extra),
    };
  }
}

/** Fields of the contract, and other ways to write it. */
export function* specMutants(of: SealedRun): Generator<Mutant> {
  const file = 'spec.json';
  const text = textOf(of, file);
  for (const { at, what, whole } of fieldChanges(JSON.parse(text)))
    yield {
      region: 'spec field',
      what: `${at}: ${what}`,
      file,
      run: withFile(of, file, JSON.stringify(whole)),
    };
  for (const [what, changed] of rewritings(text))
    yield { region: 'spec rewritten', what, file, run: withFile(of, file, changed) };
  for (const [what, changed] of malformings(text))
    yield { region: 'spec malformed', what, file, run: withFile(of, file, changed) };
}

/** Fields of a signed approval: of the document, and of what was signed under the old signature. */
export function* approvalMutants(of: SealedRun, file: string): Generator<Mutant> {
  const text = textOf(of, file);
  const document = JSON.parse(text) as { readonly statement: string; readonly signature: string };
  for (const { at, what, whole } of fieldChanges(document))
    yield {
      region: 'approval',
      what: `${at}: ${what}`,
      file,
      run: withFile(of, file, JSON.stringify(whole)),
    };
  for (const [line, what, signature] of lineChanges(document.signature))
    yield {
      region: 'approval',
      what: `signature line ${line} ${what}`,
      file,
      run: withFile(of, file, JSON.stringify({ ...document, signature })),
    };
  const statement: unknown = JSON.parse(Buffer.from(document.statement, 'base64').toString());
  for (const { at, what, whole } of fieldChanges(statement)) {
    const changed = Buffer.from(JSON.stringify(whole)).toString('base64');
    yield {
      region: 'approval',
      what: `statement ${at}: ${what}`,
      file,
      run: withFile(of, file, JSON.stringify({ ...document, statement: changed })),
    };
  }
  for (const [what, changed] of malformings(text))
    yield { region: 'approval', what, file, run: withFile(of, file, changed) };
}

/** Lines of the commit object, under its new id and under the old one. */
export function* commitMutants(of: SealedRun): Generator<Mutant> {
  const hash = of.commit.id.length === 64 ? 'sha256' : 'sha1';
  const raw = of.commit.raw.toString();
  const file = 'commit';
  for (const [line, what, changed] of lineChanges(raw)) {
    const object = Buffer.from(changed);
    yield {
      region: `commit line ${line}`,
      what,
      file,
      run: { ...of, commit: { id: commitId(object, hash), raw: object } },
    };
    yield {
      region: 'commit under its old id',
      what: `${line} ${what}`,
      file,
      run: { ...of, commit: { id: of.commit.id, raw: object } },
    };
  }
  for (const [what, object] of octetChanges(of.commit.raw))
    yield {
      region: 'commit octets',
      what,
      file,
      run: { ...of, commit: { id: commitId(object, hash), raw: object } },
    };
  for (const [what, id] of [
    ['of other length', of.commit.id.slice(0, 20)],
    ['in capitals', of.commit.id.toUpperCase()],
    ['of another commit', `${of.commit.id.slice(0, -1)}${of.commit.id.endsWith('0') ? '1' : '0'}`],
    ['none', ''],
  ] as const)
    yield { region: 'commit id', what, file, run: { ...of, commit: { ...of.commit, id } } };
}

/** Every stored file: octets, gone, under another name, with the bytes of the next one. */
export function* fileMutants(of: SealedRun): Generator<Mutant> {
  for (const tree of ['run', 'content'] as const) {
    const paths = [...of[tree].keys()];
    for (const [n, file] of paths.entries()) {
      const bytes = of[tree].get(file) ?? Buffer.alloc(0);
      const plain = !file.endsWith('.sigstore.json') && file !== 'spec.json' && file !== proofPath;
      if (plain)
        for (const [what, changed] of octetChanges(bytes))
          yield { region: `${tree} octets`, what, file, run: withFile(of, file, changed) };
      const gone = copyOf(of);
      gone[tree].delete(file);
      yield { region: `${tree} gone`, what: 'removed', file, run: gone };
      const renamed = copyOf(gone);
      renamed[tree].set(`${file}~`, bytes);
      yield { region: `${tree} renamed`, what: 'renamed', file, run: renamed };
      const next = paths[(n + 1) % paths.length] ?? file;
      if (next !== file)
        yield {
          region: `${tree} exchanged`,
          what: `with the bytes of ${next}`,
          file,
          run: withFile(of, file, of[tree].get(next) ?? bytes),
        };
    }
    const added = copyOf(of);
    added[tree].set('evidence/9999-more.json', Buffer.from('{}'));
    yield { region: `${tree} with a file more`, what: 'added', file: 'evidence/9999-more.json', run: added };
  }
}

/** What a reader of a bundle takes out of it: all but the octets of signatures, of which one message has many. */
export function claimsOf(bytes: Uint8Array): unknown {
  const { envelope, proof } = parseBundle(bytes);
  const logged = proof && {
    ...proof,
    rootHash: hex(proof.rootHash),
    hashes: proof.hashes.map(hex),
    logId: hex(proof.logId),
    body: hex(proof.body),
    checkpoint: proof.checkpoint.split('\n\n')[0],
  };
  return {
    keyId: envelope.keyId,
    signed: hex(preAuthEncoding(envelope.payloadType, envelope.payload)),
    ...(logged && { logged }),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
