/* Evaluates the patch rules on a candidate. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import { findSecurityPath } from '../../spec/secret-words.ts';
import type { WritConfig } from '../config/config.ts';
import type { Attempt } from '../state/open-run.ts';
import { recordOutcome } from '../state/outcome.ts';
import { evaluateRules, ruleQuestion, wordingFindings } from './evaluate-rules.ts';
import { observeChecks } from './observe/observe-checks.ts';
import { ofPrepare } from './second-run/verification-inputs.ts';
import { takenBackFindings } from './taken-back.ts';

/**
 * Evaluates every patch rule, then every plugin, before a patchset is Proposed. An `error` rejects it. For the part
 * of one Task among several, rules that need the whole change are skipped.
 */
export async function evaluatePatch(
  attempt: Attempt,
  extent: 'whole' | 'part' = 'whole',
): Promise<readonly Finding[]> {
  const step =
    extent === 'part' ? 'part-judged' : attempt.observed ? 'patch-judged-observed' : 'patch-judged';
  const find = async (): Promise<readonly Finding[]> => {
    const {
      identity: { contract, scope, runId },
      services: { engine },
      environment,
      patch,
    } = attempt;
    const spec = contract.effective;
    const question = ruleQuestion(attempt, { spec, patch, scope, artifacts: [] });
    const rules = environment.rules
      .at('patch', spec)
      .filter((rule) => extent === 'whole' || !rule.judgesWhole);
    const found = await evaluateRules(question, rules);
    const added = await engine.hooks.patch.judge.call({ runId, spec, patch });
    attempt.services.settings.signal.throwIfAborted();
    const worded = extent === 'whole' ? wordingFindings(attempt.identity.wording) : [];
    const back = extent === 'whole' ? await takenBackFindings(attempt) : [];
    return [
      ...found,
      ...back,
      ...worded,
      ...securityCodeWarning(spec, attempt.environment.config, patch),
      ...added,
    ];
  };
  // If a finding reports a secret, it is stored without the secret, even if the spec allows stored secrets.
  const policyFor = (found: readonly Finding[], policy: PrivacyPolicy): PrivacyPolicy => {
    const isRefused = found.some(
      ({ rule, severity }) =>
        severity === 'error' && attempt.environment.rules.get(rule)?.findsSecrets === true,
    );
    return isRefused ? { ...policy, remove: [...new Set([...policy.remove, 'secrets' as const])] } : policy;
  };
  return recordOutcome(attempt, step, find, { policyFor });
}

/**
 * Evaluates the patch rules on a whole candidate, and again if a check was seen to look for files that the candidate
 * adds. The returned attempt includes the files that its checks read. If the rules refuse the candidate at once, no
 * observed run starts.
 */
export async function evaluateObserved(
  attempt: Attempt,
): Promise<{ readonly attempt: Attempt; readonly findings: readonly Finding[] }> {
  const findings = await evaluatePatch(attempt);
  const isOfPrepare = ({ detail }: Finding): boolean => detail?.via === ofPrepare;
  // Observation can correct findings about `prepare`, so they do not end the evaluation here.
  if (findings.some((one) => one.severity === 'error' && !isOfPrepare(one))) return { attempt, findings };
  const observed = await observeChecks(attempt);
  if (observed === undefined) return { attempt, findings };
  const seen: Attempt = { ...attempt, observed };
  const { filled, prepared } = observed;
  const isChanged = ({ path, oldPath = path }: PatchFile): boolean => prepared?.includes(oldPath) === true;
  const isNews =
    Object.keys(filled).length > 0 ||
    (prepared !== undefined && (findings.some(isOfPrepare) || attempt.patch.files.some(isChanged)));
  return { attempt: seen, findings: isNews ? await evaluatePatch(seen) : findings };
}

/**
 * Warns at `medium` risk without `humanInLoop` about a change to security code. `[security_code]` in the config
 * defines that code, by path or by a word in a path. Returns one warning, for the first match.
 */
function securityCodeWarning(
  { risk }: EffectiveIntentSpec,
  { securityCode }: Pick<WritConfig, 'securityCode'>,
  patch: PatchSet,
): readonly Finding[] {
  if (risk.level !== 'medium' || risk.humanInLoop.required) return [];
  const paths = patch.files.map(({ path }) => path);
  const path = findSecurityPath(paths, securityCode);
  if (path === undefined) return [];
  return [
    {
      rule: 'security-code',
      severity: 'warning',
      message: 'the change touches security code at medium risk, and no person has to approve it',
      path,
    },
  ];
}
