import t from 'tap';
import {
  type ApprovalInput,
  buildApproval,
  encodeApprovalDocument,
} from '../../../attest/approval/approval-statement.ts';
import { readApprovals } from '../../../attest/approval/read-approvals.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import type { ApprovalGround, ApprovalSubject } from '../../../core/interfaces/approval.ts';
import { long } from '../../rooms/long.ts';
import { type HandSigner, handSigner } from './hand-signer.ts';
import { wire } from './ssh-tools.ts';

const subject: ApprovalSubject = {
  runId: '0198c1e2-7a5d-7b1c-9d51-0c5a3f1f7e11',
  baseCommit: '1'.repeat(40),
  candidateTree: '2'.repeat(40),
  patchDigest: '3'.repeat(64),
  specDigest: '4'.repeat(64),
  gateReportDigest: '5'.repeat(64),
};
const receivedAtMs = Date.UTC(2026, 5, 1, 12);
const [ana, ben, cleo, stranger] = [handSigner(), handSigner(), handSigner(), handSigner()];
const signers = [
  `ana@x.example ${ana.publicKey}`,
  `ben@x.example ${ben.publicKey}`,
  `cleo@x.example,cleo@home.example ${cleo.publicKey}`,
].join('\n');

function approval(by: HandSigner, more: Partial<ApprovalInput> = {}, namespace?: string): Uint8Array {
  const statement = buildApproval({ subject, decision: 'approve', signedAtMs: receivedAtMs - 1000, ...more });
  return encodeApprovalDocument(statement, by.sign(statement, namespace));
}

/** A document around statement bytes of any kind. */
function signedText(by: HandSigner, text: string): Uint8Array {
  return encodeApprovalDocument(Buffer.from(text), by.sign(Buffer.from(text)));
}

function judge(documents: readonly Uint8Array[], ground: Partial<ApprovalGround> = {}) {
  const given = documents.map((bytes, index) => ({ source: `refs/ai/approvals/r/${index + 1}`, bytes }));
  const allowedSigners = Buffer.from(signers);
  return readApprovals(given, { subject, allowedSigners, authors: [], receivedAtMs, ...ground });
}

async function statuses(documents: readonly Uint8Array[], ground: Partial<ApprovalGround> = {}) {
  return (await judge(documents, ground)).map(({ status }) => status);
}

t.test('an approval by an allowed signer counts, and its claims are returned', async (t) => {
  const [verdict] = await judge([
    approval(ana, { role: 'security', comment: 'read\nit', principal: 'ana@x.example' }),
  ]);
  t.match(verdict, {
    source: 'refs/ai/approvals/r/1',
    digest: /^[0-9a-f]{64}$/,
    decision: 'approve',
    principal: 'ana@x.example',
    keyId: /^SHA256:/,
    role: 'security',
    comment: 'read\nit',
    signedAt: '2026-06-01T11:59:59.000Z',
    status: 'counts',
  });
  t.equal(verdict?.detail, undefined);
  t.strictSame(await judge([]), []);
});

t.test('verdicts are returned in the order of the approvals', async (t) => {
  const bad = Buffer.from('{}');
  t.strictSame(await statuses([approval(ben), bad, approval(ana)]), ['counts', 'malformed', 'counts']);
});

t.test(
  'a signature by an unknown key, for another namespace or over other bytes does not count',
  async (t) => {
    t.strictSame(await statuses([approval(stranger)]), ['untrusted-signer']);
    t.strictSame(await statuses([approval(ana, { principal: 'ben@x.example' })]), ['untrusted-signer']);
    t.strictSame(await statuses([approval(ana)], { allowedSigners: undefined }), ['untrusted-signer']);
    t.strictSame(await statuses([approval(ana, {}, 'file')]), ['wrong-namespace']);
    t.strictSame(await statuses([approval(ana, {}, 'git')]), ['wrong-namespace']);
    const statement = buildApproval({ subject, decision: 'approve', signedAtMs: receivedAtMs });
    const other = buildApproval({ subject, decision: 'reject', signedAtMs: receivedAtMs });
    const [verdict] = await judge([encodeApprovalDocument(other, ana.sign(statement))]);
    t.match(verdict, { status: 'bad-signature', principal: '', decision: 'reject' });
  },
);

t.test('an approval by an untrusted signer names no principal', async (t) => {
  const [verdict] = await judge([approval(stranger, { principal: 'ana@x.example', comment: 'trust me' })]);
  t.match(verdict, { status: 'untrusted-signer', principal: '', detail: /SHA256:/ });
});

t.test('every part of the subject of an approval must match the run', async (t) => {
  const others: { readonly [K in keyof ApprovalSubject]: ApprovalSubject[K] } = {
    runId: 'another-run',
    baseCommit: 'a'.repeat(40),
    candidateTree: 'b'.repeat(40),
    patchDigest: 'c'.repeat(64),
    specDigest: 'd'.repeat(64),
    gateReportDigest: 'e'.repeat(64),
  };
  for (const [name, value] of Object.entries(others)) {
    const [verdict] = await judge([approval(ana, { subject: { ...subject, [name]: value } })]);
    t.match(
      verdict,
      { status: 'wrong-subject', principal: 'ana@x.example', detail: new RegExp(`^${name}: `) },
      name,
    );
  }
  const another = approval(ana, { subject: { ...subject, gateReportDigest: others.gateReportDigest } });
  const how = async (differences: readonly string[]) =>
    (await judge([another], { differences: new Map([[others.gateReportDigest, differences]]) }))[0]?.detail;
  t.match(await how(['a check came', 'one went']), /\(`e{12}`\): a check came; one went$/);
  t.match(await how([]), /: what was shown then is not known here$/);
  t.strictSame(await statuses([approval(ana, { subject: { ...subject, baseCommit: null } })]), [
    'wrong-subject',
  ]);
  const unborn = { ...subject, baseCommit: null };
  t.strictSame(await statuses([approval(ana, { subject: unborn })], { subject: unborn }), ['counts']);
});

t.test('an approval must be valid at the time it was received', async (t) => {
  const expiring = approval(ana, { expiresAtMs: receivedAtMs + 1 });
  t.strictSame(await statuses([expiring]), ['counts']);
  t.strictSame(await statuses([expiring], { receivedAtMs: receivedAtMs + 1 }), ['expired']);
  const window = (options: string) => ({ allowedSigners: Buffer.from(`ana@x ${options} ${ana.publicKey}`) });
  t.strictSame(await statuses([approval(ana)], window('valid-before="20260601115959Z"')), ['expired']);
  t.strictSame(await statuses([approval(ana)], window('valid-after="20260601120001Z"')), ['not-yet-valid']);
  t.strictSame(await statuses([approval(ana)], window('valid-after="20260601120000Z"')), ['counts']);
  t.strictSame(await statuses([approval(ana)], window('namespaces="git"')), ['untrusted-signer']);
  t.strictSame(await statuses([approval(ana)], window('cert-authority')), ['untrusted-signer']);
});

long('several approvals by one person count once', async (t) => {
  t.strictSame(await statuses([approval(ana), approval(ana)]), ['duplicate', 'counts'], 'the same key');
  const copy = approval(ana);
  t.strictSame(await statuses([copy, copy]), ['duplicate', 'counts'], 'a copy under another number');
  const laptop = handSigner();
  const twoKeys = { allowedSigners: Buffer.from(`${signers}\nAna@X.example ${laptop.publicKey}`) };
  t.strictSame(
    await statuses([approval(ana), approval(laptop)], twoKeys),
    ['duplicate', 'counts'],
    'two keys',
  );
  const aliases = [
    approval(cleo, { principal: 'cleo@x.example' }),
    approval(cleo, { principal: 'cleo@home.example' }),
  ];
  t.strictSame(await statuses(aliases), ['duplicate', 'counts'], 'two names of one key');
  const phone = { allowedSigners: Buffer.from(`${signers}\ncleo@home.example ${laptop.publicKey}`) };
  t.strictSame(
    await statuses([approval(laptop), approval(cleo, { principal: 'cleo@x.example' })], phone),
    ['duplicate', 'counts'],
    'two keys of which one has a name that the other has too',
  );
  const chain = {
    allowedSigners: Buffer.from(
      [`ana@x ${ana.publicKey}`, `ana@x,lee@x ${ben.publicKey}`, `lee@x ${cleo.publicKey}`].join('\n'),
    ),
  };
  t.strictSame(
    await statuses([approval(ana), approval(cleo)], chain),
    ['duplicate', 'counts'],
    'two names of which a third key says that they are one person',
  );
  t.strictSame(
    await statuses([approval(cleo)], { ...chain, authors: ['ana@x'] }),
    ['author'],
    'an author too',
  );
  const anyone = { allowedSigners: Buffer.from(`*@x.example ${ana.publicKey}`) };
  const names = ['one@x.example', 'two@x.example'].map((principal) => approval(ana, { principal }));
  t.strictSame(await statuses(names, anyone), ['duplicate', 'counts'], 'one key of a pattern');
  t.strictSame(await statuses([approval(ana)], anyone), ['untrusted-signer'], 'a pattern without a name');
  t.strictSame(
    await statuses(names, { ...anyone, authors: ['two@x.example'] }),
    ['author', 'author'],
    'an author by one of the names that the key was used with',
  );
  const lines = Array.from({ length: 6000 }, (_, at) => {
    const octets = Buffer.alloc(32);
    octets.writeUInt32BE(at);
    return `p${at},p${at + 1} ssh-ed25519 ${wire('ssh-ed25519', octets).toString('base64')}`;
  });
  const long = {
    allowedSigners: Buffer.from([...lines, `p6000 ${ana.publicKey}`, `q ${ben.publicKey}`].join('\n')),
  };
  t.strictSame(
    await statuses([approval(ana), approval(ben)], { ...long, authors: ['p0'] }),
    ['author', 'counts'],
    'a long chain of names is followed to its end',
  );
});

t.test('an approval that does not count does not block a later one of the same person', async (t) => {
  const stale = approval(ana, { subject: { ...subject, patchDigest: 'f'.repeat(64) } });
  t.strictSame(await statuses([stale, approval(ana)]), ['wrong-subject', 'counts']);
});

t.test('an author cannot approve their own change under any name', async (t) => {
  const by = (...authors: string[]) => statuses([approval(ana), approval(cleo)], { authors });
  t.strictSame(await by(), ['counts', 'counts']);
  t.strictSame(await by('ana@x.example'), ['author', 'counts']);
  t.strictSame(await by('ANA@x.EXAMPLE'), ['author', 'counts'], 'case');
  t.strictSame(await by('Ana Lee <ana@X.example>'), ['author', 'counts'], 'a git identity');
  t.strictSame(await by('Cleo <cleo@home.example>'), ['counts', 'author'], 'another name of the same key');
  t.strictSame(await by('ana', 'x.example', '@', ''), ['counts', 'counts'], 'no part of a name');
  const named = {
    allowedSigners: Buffer.from(`"Ana Lee <ana@x.example>" ${ana.publicKey}`),
    authors: ['ana@x.example'],
  };
  t.strictSame(await statuses([approval(ana)], named), ['author'], 'a principal that is a git identity');
  t.strictSame(await statuses([approval(ana, { decision: 'reject' })], { authors: ['ana@x.example'] }), [
    'author',
  ]);
});

t.test(
  'a rejection overrides every approval by the same person, and the latest rejection counts',
  async (t) => {
    const reject = (by: HandSigner) => approval(by, { decision: 'reject' });
    t.strictSame(await statuses([approval(ana), reject(ana), approval(ana)]), [
      'duplicate',
      'counts',
      'duplicate',
    ]);
    t.strictSame(await statuses([reject(ana), reject(ana)]), ['duplicate', 'counts']);
    t.strictSame(await statuses([approval(ben), reject(ana)]), ['counts', 'counts']);
    const void_ = approval(ana, { decision: 'reject', subject: { ...subject, runId: 'other' } });
    t.strictSame(await statuses([approval(ana), void_]), ['counts', 'wrong-subject']);
  },
);

t.test('an approval that does not match the strict format is malformed', async (t) => {
  const good = Buffer.from(
    buildApproval({ subject, decision: 'approve', signedAtMs: receivedAtMs }),
  ).toString();
  t.strictSame(await statuses([signedText(ana, good)]), ['counts']);
  const statements: Readonly<Record<string, string>> = {
    'another type': good.replace('approval:v1', 'provenance:v1'),
    'another statement': good.replace('Statement/v1', 'Statement/v0.1'),
    'an unknown member': good.replace('{"_type"', '{"more":1,"_type"'),
    'an unknown member of the predicate': good.replace('"decision"', '"urgent":true,"decision"'),
    'a repeated member': good.replace('"decision":"approve"', '"decision":"reject","decision":"approve"'),
    'another decision': good.replace('"approve"', '"Approve"'),
    'a subject less': good.replace(/\{[^{}]*\{[^{}]*\}[^{}]*"intentspec"\}/, '').replace(',]', ']'),
    'a subject more': good.replace(/\]\}$/, ',{}]}'),
    'a short digest': good.replace('3'.repeat(64), '3'.repeat(63)),
    'another digest': good.replace('"gitTree"', '"gitCommit"'),
    'upper-case hex': good.replace('5'.repeat(64), 'A'.repeat(64)),
    'no nonce': good.replace('"nonce"', '"once"'),
    'a time that is none': good.replace('2026-06-01', '2026-02-30'),
    'a pattern as principal': good.replace('"nonce"', '"principal":"*@x","nonce"'),
    'a null expiry': good.replace('"gateReport"', '"expiresAt":null,"gateReport"'),
    'no JSON': 'approve',
    'a list': `[${good}]`,
    'trailing text': `${good} {}`,
  };
  for (const [name, text] of Object.entries(statements)) {
    t.not(text, good, name);
    t.match(await judge([signedText(ana, text)]), [{ status: 'malformed', principal: '', keyId: '' }], name);
  }
  const document = Buffer.from(approval(ana)).toString();
  const documents: Readonly<Record<string, string>> = {
    nothing: '',
    'an unknown member': document.replace('{', '{"more":1,'),
    'a repeated member': document.replace('{', '{"schema":"urn:writ:approval:v1",'),
    'another schema': document.replace('approval:v1', 'approval:v2'),
    'no base64': document.replace('"statement":"', '"statement":"*'),
    'no armour': document.replace('BEGIN SSH', 'BEGIN PGP'),
    'too large': canonicalize({ ...JSON.parse(document), statement: 'A'.repeat(70_000) }),
    'a byte order mark': `\ufeff${document}`,
  };
  for (const [name, text] of Object.entries(documents))
    t.match(await judge([Buffer.from(text)]), [{ status: 'malformed' }], name);
});

t.test('random damage to an approval never throws and never counts', async (t) => {
  const document = approval(ana);
  for (let at = 0; at < document.length; at += 7) {
    const damaged = Buffer.from(document);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
    const [verdict] = await judge([damaged]);
    // A space for a line feed inside the armour changes nothing that was signed, and nothing else may pass.
    if (verdict?.status === 'counts') t.fail(`octet ${at}: ${damaged.subarray(at - 5, at + 5)}`);
  }
});

t.test('`buildApproval` rejects values that the parser would reject', async (t) => {
  const build = (more: Partial<ApprovalInput>) => () =>
    buildApproval({ subject, decision: 'approve', signedAtMs: receivedAtMs, ...more });
  for (const more of [
    { principal: '*@x' },
    { role: '' },
    { comment: 'a\u0000' },
    { subject: { ...subject, runId: 'a b' } },
  ])
    t.throws(build(more), { code: 'ATTESTATION_MALFORMED' });
  t.not(String(build({})()), String(build({})()), 'each has a nonce of its own');
});

t.test('an approval carries over only if nothing but base and tree differs', async (t) => {
  const moved = { baseCommit: '6'.repeat(40), candidateTree: '7'.repeat(40) };
  const asked: ApprovalSubject[] = [];
  const carryFault = async (earlier: ApprovalSubject) => {
    asked.push(earlier);
    return undefined;
  };
  const earlier = (more: Partial<ApprovalSubject> = {}) =>
    approval(ana, { subject: { ...subject, ...moved, ...more } });
  const [verdict] = await judge([earlier()], { carryFault });
  t.match(verdict, { status: 'counts', earlier: { ...moved, gateReportDigest: subject.gateReportDigest } });
  t.equal(asked.length, 1);
  for (const more of [
    { runId: '0198c1e2-7a5d-7b1c-9d51-000000000000' },
    { patchDigest: '8'.repeat(64) },
    { specDigest: '8'.repeat(64) },
    { gateReportDigest: '8'.repeat(64) },
    { baseCommit: null },
  ])
    t.strictSame(
      await statuses([earlier(more)], { carryFault }),
      ['wrong-subject'],
      Object.keys(more).join(),
    );
  t.equal(asked.length, 1, 'no git object is read for any of them');
  t.strictSame(await statuses([earlier()]), ['wrong-subject'], 'without the opt-in');
  const [refused] = await judge([earlier()], { carryFault: async () => 'another patch' });
  t.match(refused, { status: 'wrong-subject', detail: /does not carry over: another patch/ });
  t.strictSame(
    await statuses([earlier()], { carryFault, receivedAtMs: 0, allowedSigners: undefined }),
    ['untrusted-signer'],
    'the signature comes first',
  );
});
