import { type BundledProof, parseTlogEntry } from '../bundle/bundled-proof.ts';
import { expectObject, type JsonObject, parseJsonObject } from '../encoding/expect-json.ts';
import { parseCheckpoint } from '../log/checkpoint.ts';
import { parseLogEntry } from '../log/log-entry.ts';
import { askLog, logFailed, type Patience } from './ask-log.ts';

/** Most octets of an answer: an entry of 64 KiB in base64, 63 hashes, a checkpoint with its cosignatures. */
const maxAnswerBytes = 1024 * 1024;

/** What a Rekor v2 log answered, in our form; nothing is verified yet. */
export async function addToRekorV2(
  url: string,
  body: Uint8Array,
  patience: Patience,
  withinMs: number,
): Promise<BundledProof> {
  const entry = parseLogEntry(body);
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const place = `${url}/api/v2/log/entries`;
  const limits = { withinMs, maxBytes: maxAnswerBytes };
  const answer = await askLog(
    {
      ...limits,
      url: place,
      method: 'POST',
      headers,
      body: JSON.stringify({
        hashedRekordRequestV002: {
          digest: entry.digest.toString('base64'),
          signature: {
            content: entry.signature.toString('base64'),
            verifier: {
              publicKey: { rawBytes: entry.publicKey.toString('base64') },
              keyDetails: entry.keyDetails,
            },
          },
        },
      }),
    },
    patience,
  );
  if (answer.status === 200 || answer.status === 201) return readAnswer(answer.body, place);
  const there = answer.status === 409 ? answer.headers.location : undefined;
  if (there === undefined) throw logFailed(`it answered ${answer.status}${said(answer.body)}`, place);
  const at = URL.canParse(there, place) ? new URL(there, place) : undefined;
  // The entry is said to be there already; another host's word on that is nobody's.
  if (at?.origin !== new URL(place).origin)
    throw logFailed('it answered 409 and pointed to another host for the entry', place);
  const kept = await askLog(
    { ...limits, url: at.href, method: 'GET', headers: { accept: 'application/json' } },
    patience,
  );
  if (kept.status !== 200)
    throw logFailed(`it answered ${kept.status} for the entry that is there already`, place);
  return readAnswer(kept.body, place);
}

/**
 * Protobuf JSON leaves out what is zero or empty; size and root are those of the checkpoint where they are not said
 * twice.
 */
function readAnswer(bytes: Buffer, url: string): BundledProof {
  try {
    const {
      logIndex = '0',
      logId,
      kindVersion,
      inclusionProof,
      canonicalizedBody,
    } = parseJsonObject(bytes, maxAnswerBytes);
    const proof: JsonObject = expectObject(inclusionProof, '/inclusionProof');
    const { envelope } = expectObject(proof.checkpoint, '/inclusionProof/checkpoint');
    const head = parseCheckpoint(String(envelope), () => true);
    return parseTlogEntry(
      {
        logIndex,
        logId,
        kindVersion,
        integratedTime: '0',
        inclusionProof: {
          logIndex: proof.logIndex ?? logIndex,
          rootHash: proof.rootHash ?? head.root.toString('base64'),
          treeSize: proof.treeSize ?? String(head.size),
          hashes: proof.hashes ?? [],
          checkpoint: { envelope },
        },
        canonicalizedBody,
      },
      '',
    );
  } catch (cause) {
    throw logFailed(`its answer cannot be read: ${cause instanceof Error ? cause.message : ''}`, url, cause);
  }
}

/** The beginning of what a service says about a refusal, as visible ASCII. */
function said(body: Buffer): string {
  const text = body
    .toString('latin1', 0, 200)
    .replace(/[^ -~]+/g, ' ')
    .trim();
  return text === '' ? '' : `: ${text}`;
}
