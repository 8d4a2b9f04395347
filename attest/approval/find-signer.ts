import { toRfc3339 } from '../../core/base/clock.ts';
import type { AllowedSigner, AllowedSigners } from './allowed-signers.ts';
import { fitsPatternList, literalsOf } from './pattern-list.ts';
import { approvalNamespace } from './sshsig.ts';

/** Whom the allowed signers say a key belongs to. */
export interface FoundSigner {
  /** Empty where the file does not name one. */
  readonly principal: string;
  readonly problem?: {
    readonly status: 'untrusted-signer' | 'expired' | 'not-yet-valid';
    readonly detail: string;
  };
}

/**
 * The signer behind a key at a moment. `claimed` must fit a line of the key; without a claim the first literal
 * principal of a line is taken, never a pattern. Of several lines one that holds is enough.
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
      return untrusted(`nobody may sign: \`.writ/allowed_signers\` at the policy commit: ${first.reason}`);
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
