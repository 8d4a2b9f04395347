import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseApprovalDocument } from '../../attest/approval/approval-statement.ts';
import { parseSshSignature } from '../../attest/approval/sshsig.ts';
import { formatBundle, parseBundle } from '../../attest/bundle/bundle.ts';
import { parseTlogProof } from '../../attest/log/checkpoint.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { formatEvidenceFile, parseEvidenceFile } from '../../attest/verify/evidence-file.ts';
import { type VerifyReport, verifyExitCode } from '../../attest/verify/report.ts';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import {
  copyOf,
  makeMachine,
  rebound,
  removeMachines,
  type SealedRun,
  sealRun,
  toSource,
  troubles,
  type VerifyAs,
  verifyAs,
} from '../attest/verify/sealed-run.ts';
import { isLong, long } from '../rooms/long.ts';
import { answersTo, pinsOf } from './answers.ts';
import {
  approvalMutants,
  bundleMutants,
  bundlesOf,
  claimsOf,
  commitMutants,
  fileMutants,
  logMutants,
  type Mutant,
  manifestPath,
  payloadMutants,
  proofPath,
  provenancePath,
  specMutants,
  withFile,
} from './mutants.ts';
import { fieldChanges, malformings } from './mutate.ts';
import { type AttackedSet, pemOf, people, rich, sealRichSet } from './rich-set.ts';

t.teardown(removeMachines);

const set = await sealRichSet('sha1');
const wide = await sealRichSet('sha256');
let attacks = 0;

/**
 * Why an answer is none of those that the table allows; `undefined` where it is one. `pinned` are checks that hold the
 * file's octets.
 */
function objection(
  mutant: Mutant,
  report: VerifyReport,
  original: SealedRun,
  pinned: readonly string[],
): string | undefined {
  const said = troubles(report).filter((line) => !line.endsWith(' not-run'));
  const exit = verifyExitCode(report);
  for (const answer of answersTo(mutant)) {
    if (answer === 'same') {
      // Nothing but what pins the octets may speak, and where nothing does, it is verified; the claims themselves are
      // the old ones.
      const quiet = said.every((line) => pinned.includes(line)) && report.verified === (said.length === 0);
      if (quiet && sameClaims(mutant, original)) return undefined;
    } else if (
      exit === answer.exit &&
      !report.verified &&
      said.some((line) => answer.own.includes(line)) &&
      said.every((line) => [...answer.own, ...(answer.beside ?? []), ...pinned].includes(line))
    ) {
      return undefined;
    }
  }
  return `${mutant.file}, ${mutant.region}, ${mutant.what}: exit ${exit}, ${said.join('; ') || 'verified'}`;
}

/** True where a reader takes the same claims out of the changed file as out of the old one. */
function sameClaims({ file, run }: Mutant, original: SealedRun): boolean {
  const read = (of: SealedRun): unknown => {
    const bytes = of.run.get(file) ?? of.content.get(file) ?? Buffer.alloc(0);
    if (file.endsWith('.sigstore.json')) return claimsOf(bytes);
    if (file === 'spec.json') return canonicalDigest(JSON.parse(bytes.toString()));
    if (file === proofPath) {
      const { index, hashes, checkpoint } = parseTlogProof(bytes);
      return { index, hashes, head: checkpoint.split('\n\n')[0] };
    }
    const { statement, signature } = parseApprovalDocument(bytes);
    return { statement, signature: parseSshSignature(signature).signature };
  };
  try {
    return JSON.stringify(read(run)) === JSON.stringify(read(original));
  } catch {
    return false;
  }
}

async function attack(
  of: AttackedSet,
  mutants: Iterable<Mutant> | AsyncIterable<Mutant>,
  every = 1,
  first = 0,
): Promise<readonly string[]> {
  const objections: string[] = [];
  let n = -1;
  for await (const mutant of mutants) {
    n += 1;
    if (n % every !== first % every || isUnchanged(mutant, of.sealed)) continue;
    attacks += 1;
    const why = objection(mutant, await of.verify(mutant.run), of.sealed, pinsOf(mutant.file));
    if (why !== undefined) objections.push(why);
  }
  return objections.slice(0, 20);
}

function isUnchanged({ file, run }: Mutant, original: SealedRun): boolean {
  if (file === 'commit')
    return run.commit.id === original.commit.id && run.commit.raw.equals(original.commit.raw);
  const now = run.run.get(file) ?? run.content.get(file);
  const then = original.run.get(file) ?? original.content.get(file);
  return now !== undefined && then !== undefined && now.equals(then) && run.run.size === original.run.size;
}

t.test('the unmodified sets verify, with approvals and a log proof of several hashes', async (t) => {
  for (const one of [set, wide]) {
    const report = await one.verify(one.sealed);
    t.strictSame(troubles(report), []);
    t.equal(report.verified, true);
    t.ok(report.checks.some(({ id, status }) => id === 'approvals' && status === 'passed'));
    t.ok(parseTlogProof(one.sealed.run.get(proofPath) ?? Buffer.alloc(0)).hashes.length >= 2);
  }
  t.equal(wide.sealed.commit.id.length, 64);
});

for (const [n, path] of bundlesOf(set.sealed).entries()) {
  const whole = path === provenancePath || path === manifestPath;
  t.test(`no field or byte of ${path} can be changed`, async (t) => {
    t.strictSame(await attack(set, bundleMutants(set.sealed, path), whole ? 1 : 4, n), []);
  });
  t.test(`no signed field of ${path} can be changed, under the old signature or another key`, async (t) => {
    t.strictSame(await attack(set, payloadMutants(set.sealed, path)), []);
  });
}

long('no line of a checkpoint or proof and no field of the log entry can be changed', async (t) => {
  t.strictSame(await attack(set, logMutants(set.sealed)), []);
});

long(
  'changed log files are refused even if the signer pins them in a new summary and manifest',
  async (t) => {
    const objections: string[] = [];
    let n = 0;
    for (const mutant of logMutants(set.sealed)) {
      n += 1;
      if (n % 4 > 0) continue;
      attacks += 1;
      const run = await rebound(set.machine, mutant.run);
      const why = objection(mutant, await set.verify(run), set.sealed, []);
      if (why !== undefined) objections.push(why);
    }
    t.strictSame(objections.slice(0, 20), []);
  },
);

t.test('no field of the spec can be changed', async (t) => {
  t.strictSame(await attack(set, specMutants(set.sealed), 3), []);
});

long('no field of an approval can be changed', async (t) => {
  t.strictSame(await attack(set, approvalMutants(set.sealed, 'approvals/0001.json'), 3), []);
  t.strictSame(await attack(set, approvalMutants(set.sealed, 'approvals/0002.json'), 9), []);
});

long('no line of the commit object can be changed', async (t) => {
  t.strictSame(await attack(set, commitMutants(set.sealed)), []);
});

long('no stored file can be changed, removed, renamed, exchanged or added', async (t) => {
  t.strictSame(await attack(set, fileMutants(set.sealed), 2), []);
});

long('no part of a set in a SHA-256 repository can be changed', async (t) => {
  t.strictSame(await attack(wide, commitMutants(wide.sealed), 4), []);
  t.strictSame(await attack(wide, payloadMutants(wide.sealed, provenancePath), 3), []);
  t.strictSame(await attack(wide, bundleMutants(wide.sealed, provenancePath), 7), []);
  t.strictSame(await attack(wide, specMutants(wide.sealed), 7), []);
  t.strictSame(await attack(wide, fileMutants(wide.sealed), 9), []);
});

/** The document of `writ report --bundle`, changed: refused when it is read, or by these answers. */
async function attackExported(changed: string | Buffer): Promise<string> {
  attacks += 1;
  try {
    const { runId, source } = parseEvidenceFile(Buffer.from(changed));
    const report = await set.verifySource(source, { runId });
    const said = troubles(report).filter((line) => !line.endsWith(' not-run'));
    return `${verifyExitCode(report)} ${said.join('; ')}`.trim();
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return 'malformed';
    throw fault;
  }
}

t.test('no field of the exported evidence can be changed', async (t) => {
  const text = await formatEvidenceFile('run-1', toSource(set.sealed));
  t.equal(await attackExported(text), '0');
  const unlisted =
    /^1 (?:subject-patchset missing missing; )?(?:spec missing missing; )?evidence-stored failed unlisted/;
  const rows: readonly (readonly [place: RegExp, answer: RegExp])[] = [
    [/^\/mediaType$/, /^malformed$/],
    [/^\/runId$/, /^malformed$|^1 run failed wrong-run$/],
    [/^\/commit\/id$/, /^malformed$|^1 subject-commit failed mismatch$/],
    [/^\/commit\/object$/, /^malformed$|^1 subject-commit failed mismatch/],
    [/^\/commit$/, /^malformed$/],
    // What is listed in another order is the same; what is left out is missed.
    [/^\/run$/, /^malformed$|^0$|^3 (?:.+ )?missing(?: missing)?|^3 .*missing not-logged$/],
    [/^\/content$/, /^malformed$|^0$|^3 (?:subject-patchset|evidence:\S+) missing missing/],
    [
      /^\/(?:run|content)\/\d+\/path$/,
      new RegExp(`^malformed$|^3 bundle missing missing$|${unlisted.source}`),
    ],
    [
      /^\/(?:run|content)\/\d+\/data$/,
      /^malformed$|^1 .* failed (?:mismatch|malformed|bad-signature|policy-deny)/,
    ],
    [/^(?:\/(?:run|content)\/\d+)?$/, /^malformed$/],
  ];
  const document: unknown = JSON.parse(text);
  let n = 0;
  for (const { at, what, whole } of fieldChanges(document)) {
    n += 1;
    if (/\/\d+/.test(at) && n % 6 > 0) continue;
    const found = await attackExported(JSON.stringify(whole));
    const row = rows.find(([place]) => place.test(at));
    if (row === undefined || !row[1].test(found)) t.fail(`${at}: ${what}: ${found}`);
  }
  for (const [what, changed] of malformings(text)) t.equal(await attackExported(changed), 'malformed', what);
});

t.test('a signature rewritten in its other form proves nothing new and matches no log entry', async (t) => {
  for (const [path, expected] of [
    [manifestPath, []],
    [
      provenancePath,
      ['manifest-complete failed mismatch', 'summary failed mismatch', 'log-entry failed mismatch'],
    ],
  ] as const) {
    const bundle = parseBundle(set.sealed.run.get(path) ?? Buffer.alloc(0));
    const signature = otherForm(bundle.envelope.signature);
    t.notOk(signature.equals(bundle.envelope.signature));
    const run = withFile(
      set.sealed,
      path,
      formatBundle({ ...bundle, envelope: { ...bundle.envelope, signature } }),
    );
    const report = await set.verify(run);
    t.strictSame(
      troubles(report).filter((line) => !/^log-(?:proof|history)/.test(line)),
      expected,
      path,
    );
    t.strictSame(
      claimsOf(run.run.get(path) ?? Buffer.alloc(0)),
      claimsOf(set.sealed.run.get(path) ?? Buffer.alloc(0)),
    );
  }
});

/** (r, n − s) for (r, s): ECDSA takes both. */
function otherForm(der: Buffer): Buffer {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const rLength = der[3] ?? 0;
  const r = der.subarray(4, 4 + rLength);
  const s = der.subarray(6 + rLength);
  const digits = (order - BigInt(`0x${s.toString('hex')}`)).toString(16);
  const bare = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  const other = (bare[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bare]) : bare;
  const body = Buffer.concat([Buffer.from([2, r.length]), r, Buffer.from([2, other.length]), other]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

t.test(
  'a forger who ships keys, ledger and checkpoint memory with a commit is an untrusted signer',
  async (t) => {
    const forger = makeMachine();
    for (const runId of ['run-a', 'run-b']) await sealRun(forger, { runId });
    const forged = await sealRun(forger, rich);
    const options = { allowedSigners: people };
    const own = await verifyAs(forged, { machine: forger, ledgerOf: forger, options });
    t.same(troubles(own), [], 'by its own anchors the set is whole');

    const signerFile = await pemOf(forger);
    const carried = copyOf(forged);
    carried.run.set('signer.pem', readFileSync(signerFile));
    carried.run.set('allowed_signers', people);
    carried.run.set('.writ/allowed_signers', people);
    const memory = userCheckpointMemory({ HOME: forger.home });
    const stranger = makeMachine();
    const trusting = makeMachine();
    const trust = join(trusting.home, '.config/writ/trust');
    mkdirSync(trust, { recursive: true, mode: 0o700 });
    writeFileSync(join(trust, 'signer.pem'), readFileSync(set.pem), { mode: 0o600 });
    writeFileSync(join(trust, 'log.vkey'), set.vkey, { mode: 0o600 });
    const users: Readonly<Record<string, Omit<VerifyAs, 'options'>>> = {
      'of somebody who trusts nobody': { machine: stranger },
      'of somebody with a key and a ledger of their own': { machine: set.machine },
      'of somebody with anchors of their own, given': {
        machine: stranger,
        keyFiles: [set.pem],
        ledgerKeys: [set.vkey],
      },
      'of somebody with anchors of their own, pinned': { machine: trusting },
      'of the forger, who gave the anchors of another': {
        machine: forger,
        keyFiles: [set.pem],
        ledgerKeys: [set.vkey],
      },
    };
    for (const run of [forged, carried]) {
      for (const [who, as] of Object.entries(users)) {
        attacks += 1;
        const report = await verifyAs(run, { ...as, ledgerOf: forger, options: { ...options, memory } });
        t.equal(troubles(report)[0], 'signature unverified untrusted-signer', who);
        t.match(report, { verified: false, ran: 1 }, who);
        t.equal(verifyExitCode(report), 3, who);
      }
    }
    // The key is the right one, the ledger is the forger's, with its key vouched for by nobody.
    const { envelope } = parseBundle(set.sealed.run.get(provenancePath) ?? Buffer.alloc(0));
    const stolen = parseBundle(forged.run.get(provenancePath) ?? Buffer.alloc(0));
    const masked = withFile(
      forged,
      provenancePath,
      formatBundle({ ...stolen, envelope: { ...stolen.envelope, keyId: envelope.keyId } }),
    );
    const report = await set.verify(masked);
    t.equal(troubles(report)[0], 'signature failed bad-signature', 'under the key id of the victim');
    t.equal(verifyExitCode(report), 1);
  },
);

t.test('the mutation tests made thousands of attacks', async (t) => {
  t.comment(`${attacks} attacks`);
  t.ok(attacks >= (isLong ? 2000 : 1500), `${attacks} attacks`);
});
