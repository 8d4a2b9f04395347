/* Evaluates signed approvals: signature, signer, subject, and one counting verdict for each person. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import type {
  ApprovalGround,
  ApprovalProblem,
  ApprovalReader,
  ApprovalSubject,
  ApprovalVerdict,
  EarlierCandidate,
  ReceivedApproval,
} from '../../core/interfaces/approval.ts';
import { fitsSequence, foldPrincipal } from '../../readers/diff/owned-paths.ts';
import { type AllowedSigner, type AllowedSigners, parseAllowedSigners } from './allowed-signers.ts';
import {
  type ApprovalDocument,
  parseApproval,
  parseApprovalDocument,
  type ReadApproval,
} from './approval-statement.ts';
import { approvalNamespace, parseSshSignature, refuteSshSignature, type SshSignature } from './sshsig.ts';

/** Evaluates signed approvals offline: one verdict for each, in the order given. */
export const readApprovals: ApprovalReader['read'] = async (approvals, ground) => {
  const allowed = parseAllowedSigners(ground.allowedSigners);
  const verdicts = await Promise.all(
    approvals.map((approval) => evaluateApproval(approval, ground, allowed)),
  );
  return countPeople(verdicts, allowed, ground.authors);
};

/** Slot `approval`, name `sshsig`. */
export const sshsigApprovals: ApprovalReader = {
  read: readApprovals,
  async namesIn(allowedSigners) {
    const { signers } = parseAllowedSigners(allowedSigners);
    return (name) => signers.some(({ principals }) => fitsPatternList(name, principals));
  },
};

/**
 * Leaves one counting verdict to each person and none to authors. A rejection outranks every approval of the same
 * person, a later approval an earlier one, and one by the person one that was given in process.
 */
function countPeople(
  evaluated: readonly ApprovalVerdict[],
  allowed: AllowedSigners,
  authors: readonly string[],
): readonly ApprovalVerdict[] {
  const open = evaluated.filter(({ status }) => status === 'counts');
  const persons = new Persons(allowed);
  for (const { keyId, principal } of open) persons.joinKey(keyId, principal);
  const excluded = new Set(authors.flatMap((author) => persons.ofIdentity(author)));
  const counting = new Map<string, ApprovalVerdict>();
  const latestFirst = [...open].reverse();
  const rejections = latestFirst.filter(({ decision }) => decision === 'reject');
  const approvals = latestFirst.filter(({ decision }) => decision === 'approve');
  const own = approvals.filter(({ inProcess }) => !inProcess);
  const inProcess = approvals.filter((verdict) => verdict.inProcess);
  for (const verdict of [...rejections, ...own, ...inProcess]) {
    const person = persons.ofKey(verdict.keyId);
    if (!counting.has(person)) counting.set(person, verdict);
  }
  return evaluated.map((verdict): ApprovalVerdict => {
    if (verdict.status !== 'counts') return verdict;
    const person = persons.ofKey(verdict.keyId);
    if (excluded.has(person)) {
      const detail = `\`${verdict.principal}\` is an author of the change or runs it`;
      return { ...verdict, status: 'author', detail };
    }
    const other = counting.get(person);
    if (other === undefined || other === verdict) return verdict;
    const detail = `the same person's ${other.decision === 'reject' ? 'rejection' : 'approval'} ${other.source} counts`;
    return { ...verdict, status: 'duplicate', detail };
  });
}

interface Parts {
  readonly document: ApprovalDocument;
  readonly signature: SshSignature;
  readonly approval: ReadApproval;
}

/** Evaluates one approval before people are counted. Never throws: the status names the fault, if there is one. */
async function evaluateApproval(
  given: ReceivedApproval,
  ground: ApprovalGround,
  allowed: AllowedSigners,
): Promise<ApprovalVerdict> {
  const receivedAtMs = given.receivedAtMs ?? ground.receivedAtMs;
  const parts = readParts(given.bytes);
  if (typeof parts === 'string') {
    const nothing = { decision: 'approve', principal: '', keyId: '', signedAt: '' } as const;
    const digest = sha256Hex(given.bytes);
    return refused({ source: given.source, digest, ...nothing }, 'malformed', parts);
  }
  const { document, signature, approval } = parts;
  const { decision, role, comment, inProcess, signedAt, expiresAt, principal: claimed } = approval.predicate;
  const unproven = {
    source: given.source,
    digest: sha256Hex(document.statement),
    decision,
    principal: '',
    keyId: signature.key.fingerprint,
    signedAt,
  };
  const refutation = refuteSshSignature(signature, approvalNamespace, document.statement);
  if (refutation) return refused(unproven, refutation.status, refutation.detail);

  const signer = findSigner(allowed, signature.key.fingerprint, claimed, receivedAtMs);
  const proven = {
    ...unproven,
    principal: signer.principal,
    ...(role === undefined ? {} : { role }),
    ...(comment === undefined ? {} : { comment }),
    ...(inProcess === undefined ? {} : { inProcess }),
  };
  if (signer.problem) return refused(proven, signer.problem.status, signer.problem.detail);
  const { difference, earlier } = await compareSubject(ground, approval.subject);
  const compared = { ...proven, ...(earlier === undefined ? {} : { earlier }) };
  if (difference !== undefined) return refused(compared, 'wrong-subject', difference);
  if (expiresAt !== undefined && Date.parse(expiresAt) <= receivedAtMs)
    return refused(compared, 'expired', `the approver let it count until ${expiresAt}`);
  if (inProcess && !ground.inProcess)
    return refused(
      compared,
      'in-process',
      'the process that ran it signed it (`--approve-with`), and `[approvals] in_process` is not `true` at the policy commit',
    );
  const detail =
    earlier &&
    `signed for base \`${earlier.baseCommit.slice(0, 12)}\`; patch and verdict are the same on the new base`;
  return { ...compared, ...(detail === undefined ? {} : { detail }), status: 'counts' };
}

interface Comparison {
  /** What differs; `undefined` if the approval is about the subject, or carries over to it. */
  readonly difference?: string | undefined;
  readonly earlier?: EarlierCandidate;
}

/** An approval of an earlier candidate carries over only if base and tree are the only differences. */
async function compareSubject(ground: ApprovalGround, found: ApprovalSubject): Promise<Comparison> {
  const { subject, carryFault } = ground;
  const difference = differenceOf(ground, found);
  const { baseCommit, candidateTree, gateReportDigest } = found;
  const isSame = subject.baseCommit === baseCommit && subject.candidateTree === candidateTree;
  const isOfRun = subject.runId === found.runId && subject.specDigest === found.specDigest;
  if (isSame || !isOfRun || baseCommit === null) return { difference };
  const earlier = { baseCommit, candidateTree, gateReportDigest };
  const { baseCommit: base, candidateTree: tree } = subject;
  const moved = differenceOf(ground, { ...found, baseCommit: base, candidateTree: tree });
  if (carryFault === undefined) return { difference, earlier };
  const fault = moved ?? (await carryFault(found));
  if (fault === undefined) return { earlier };
  return { difference: `${difference}; the approval does not carry over: ${fault}`, earlier };
}

function readParts(bytes: Uint8Array): Parts | string {
  try {
    const document = parseApprovalDocument(bytes);
    const signature = parseSshSignature(document.signature);
    return { document, signature, approval: parseApproval(document.statement) };
  } catch (fault) {
    if (isWritError(fault)) return fault.message;
    throw fault;
  }
}

function differenceOf(
  { subject: expected, differences }: ApprovalGround,
  found: ApprovalSubject,
): string | undefined {
  const names = [
    'runId',
    'baseCommit',
    'candidateTree',
    'patchDigest',
    'specDigest',
    'gateReportDigest',
  ] as const;
  const name = names.find((one) => expected[one] !== found[one]);
  if (name === 'gateReportDigest') {
    const told = differences?.get(found.gateReportDigest) ?? [];
    const how = told.length === 0 ? 'what was shown then is not known here' : told.join('; ');
    return `gateReportDigest: the verdict is not the one that was signed (\`${found.gateReportDigest.slice(0, 12)}\`): ${how}`;
  }
  return name && `${name}: expected \`${expected[name]}\`, found \`${found[name]}\``;
}

function refused(
  verdict: Omit<ApprovalVerdict, 'status' | 'detail'>,
  status: ApprovalProblem,
  detail: string,
): ApprovalVerdict {
  return { ...verdict, status, detail };
}

/** The signer that the allowed signers list for a key. */
interface FoundSigner {
  /** Empty where the file does not name one. */
  readonly principal: string;
  readonly problem?: {
    readonly status: 'untrusted-signer' | 'expired' | 'not-yet-valid';
    readonly detail: string;
  };
}

/**
 * Finds the signer behind a key at a moment. `claimed` must fit a line of the key; without a claim the first literal
 * principal of a line counts, never a pattern. One valid line of several is enough.
 */
export function findSigner(
  { signers, skipped }: AllowedSigners,
  fingerprint: string,
  claimed: string | undefined,
  atMs: number,
): FoundSigner {
  const lines = signers.filter((signer) => signer.fingerprint === fingerprint);
  if (lines.length === 0) {
    const [first] = skipped;
    if (first?.line === 0)
      return untrusted(`no one may sign: \`.writ/allowed_signers\` at the policy commit: ${first.reason}`);
    const lost = first
      ? `; ${skipped.length} lines of it were skipped, the first (${first.line}): ${first.reason}`
      : '';
    return untrusted(`the allowed signers at the policy commit do not hold the key ${fingerprint}${lost}`);
  }
  const named = lines.flatMap((line) => {
    const principal = [claimed ?? literalsOf(line.principals)]
      .flat()
      .find((one) => fitsPatternList(one, line.principals));
    return principal === undefined ? [] : [{ line, principal }];
  });
  const [first] = named;
  if (!first) {
    return untrusted(
      claimed === undefined
        ? `the key ${fingerprint} is allowed for a pattern only, and the approval does not say who signed`
        : `the key ${fingerprint} is not allowed for \`${claimed}\``,
    );
  }
  const inNamespace = named.filter(({ line }) => fitsPatternList(approvalNamespace, line.namespaces ?? '*'));
  const [scoped] = inNamespace;
  if (!scoped)
    return untrusted(`the key of \`${first.principal}\` is not allowed to sign in \`${approvalNamespace}\``);
  const valid = inNamespace.find(({ line }) => problemAt(line, atMs) === undefined);
  const { line, principal } = valid ?? scoped;
  const problem = problemAt(line, atMs);
  return { principal, ...(problem ? { problem } : {}) };
}

function problemAt(line: AllowedSigner, atMs: number): FoundSigner['problem'] {
  const { validAfterMs: after, validBeforeMs: before } = line;
  if (after !== undefined && atMs < after)
    return { status: 'not-yet-valid', detail: `the key may sign from ${toRfc3339(after)}` };
  if (before !== undefined && atMs > before)
    return { status: 'expired', detail: `the key could sign until ${toRfc3339(before)}` };
  return undefined;
}

function untrusted(detail: string): FoundSigner {
  return { principal: '', problem: { status: 'untrusted-signer', detail } };
}

/** Names that one identity goes by, folded: the text itself and, for `Name <mail>`, both parts. */
function namesOf(identity: string): readonly string[] {
  const parts = /^([^<>]*)<([^<>]+)>\s*$/.exec(identity);
  return [identity, parts?.[1] ?? '', parts?.[2] ?? ''].map(foldPrincipal).filter((name) => name !== '');
}

/** Groups keys and names by person, as the allowed signers or a signature connect them. */
class Persons {
  readonly #leads = new Map<string, string>();

  /**
   * Joins each key with the literal names on its lines. Lines that share a key or a name belong to one person,
   * whatever their other fields contain.
   */
  constructor({ signers }: AllowedSigners) {
    for (const { fingerprint, principals } of signers)
      for (const principal of literalsOf(principals)) this.joinKey(fingerprint, principal);
  }

  joinKey(fingerprint: string, identity: string): void {
    for (const name of namesOf(identity))
      this.#leads.set(this.#root(`name ${name}`), this.ofKey(fingerprint));
  }

  /** The person behind a key, as a token to compare. */
  ofKey(fingerprint: string): string {
    return this.#root(`key ${fingerprint}`);
  }

  /** Every person that may have this identity. */
  ofIdentity(identity: string): readonly string[] {
    return namesOf(identity).map((name) => this.#root(`name ${name}`));
  }

  #root(node: string): string {
    let root = node;
    for (let next = this.#leads.get(root); next !== undefined && next !== root; next = this.#leads.get(root))
      root = next;
    // Paths are shortened as they are walked, so that the work does not grow with the square of the file.
    for (let at = node; at !== root; ) {
      const next = this.#leads.get(at) ?? root;
      this.#leads.set(at, root);
      at = next;
    }
    return root;
  }
}

/**
 * True if `text` matches a comma-separated list of patterns (ssh_config(5), PATTERNS). `*` and `?` are wildcards, and
 * case is significant. If a pattern after `!` matches, the result is false whatever other patterns match. A list of
 * negations alone matches no text.
 */
export function fitsPatternList(text: string, list: string): boolean {
  let fits = false;
  for (const pattern of list.split(',')) {
    const negated = pattern.startsWith('!');
    const wanted = negated ? pattern.slice(1) : pattern;
    if (!fitsSequence(text, wanted, '*', (char, want) => want === '?' || want === char)) continue;
    if (negated) return false;
    fits = true;
  }
  return fits;
}

/** Members of a pattern list without wildcards or negation. */
export function literalsOf(list: string): readonly string[] {
  return list
    .split(',')
    .filter((pattern) => pattern !== '' && !/[*?]/.test(pattern) && !pattern.startsWith('!'));
}
