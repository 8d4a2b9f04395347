import { isWritError, messageOf } from '../../../core/base/errors.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { StageRecord } from '../../../core/contract/stage.ts';
import type { StageCheck, StageCheckInput } from '../../../core/contract/stage-check.ts';
import { storable } from '../../../core/kernel/answer.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';
import type { Attempt } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { withValues } from '../state/run-secrets.ts';
import { diffText, maxDiffBytes, stageCheckInput } from './stage-check-input.ts';

/** A process that breaks is asked so often in all: what the machine does is not the change's fault. */
const maxTries = 3;
const waitMs = 1000;
const asksAgain: readonly unknown[] = ['threw', 'crashed', 'sandbox-failed'];

/**
 * What the checks that plugins of others bring find at a stage, in the order of the configuration: added to what stands
 * there, and one that gives no answer is an `error` that names it, its plugin, the stage and the reason. Each is asked
 * once about a candidate and stage; its answer is recorded, and holds when the run goes on. `asked` names each of them.
 */
export async function askStageChecks(
  attempt: Attempt,
  stage: Pick<StageRecord, 'stage' | 'checks' | 'findings'>,
  before: readonly StageRecord[],
): Promise<Pick<StageRecord, 'asked' | 'findings'>> {
  const { plugins } = attempt.ground;
  const asked = [...plugins.stageChecks.values()].filter(({ stages }) => stages.includes(stage.stage));
  if (asked.length === 0) return { findings: [] };
  const { steps } = attempt.means;
  const policy = withValues(policyOf(attempt), await plugins.secrets());
  let input: StageCheckInput | undefined;
  const standing = (): StageCheckInput => {
    input ??= redactTexts(stageCheckInput(attempt, stage, before), policy);
    return input;
  };
  let diff: { readonly text: string | undefined } | undefined;
  const withDiff = (): StageCheckInput | undefined => {
    diff ??= { text: redactTexts(diffText(attempt.patch), policy) };
    return diff.text === undefined
      ? undefined
      : { ...standing(), patch: { ...standing().patch, diff: diff.text } };
  };
  const answers = await Promise.all(
    asked.map((one) =>
      steps.once(`stage-check/${one.name}`, async () => {
        const given = one.readsDiff ? withDiff() : standing();
        const found =
          given === undefined
            ? [noAnswer(one, stage.stage, 'input-too-large', `a diff of more than ${maxDiffBytes} bytes`, 0)]
            : await ask(attempt, one, given);
        return redactTexts(found, policy);
      }),
    ),
  );
  return {
    findings: answers.flat(),
    asked: asked.map(({ name, plugin }, at) => {
      const isRefused = answers[at]?.some(({ severity }) => severity === 'error') ?? true;
      return { name, plugin, status: isRefused ? 'failed' : 'passed' };
    }),
  };
}

async function ask(
  { means: { settings, signal } }: Attempt,
  check: StageCheck,
  input: StageCheckInput,
): Promise<readonly Finding[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await check.judge(input, signal);
    } catch (fault) {
      signal.throwIfAborted();
      const reason = isWritError(fault) ? (fault.detail.reason ?? fault.code) : 'failed';
      if (tries < maxTries && asksAgain.includes(reason))
        await settings.clock.sleep(waitMs * 2 ** (tries - 1), signal);
      else return [noAnswer(check, input.stage, String(reason), messageOf(fault), tries)];
    }
  }
}

function noAnswer(
  { name, plugin }: StageCheck,
  stage: string,
  reason: string,
  found: string,
  tries: number,
): Finding {
  const told = found.replace(`plugin \`${plugin}\` gave no answer (${reason}): `, '');
  const said = `stage check \`${name}\` of plugin \`${plugin}\` gave no answer at stage \`${stage}\` (${reason})`;
  return {
    rule: name,
    severity: 'error',
    message: storable(`${said}: ${told}`.slice(0, 4000)),
    detail: { code: 'PLUGIN_PROCESS_FAULT', plugin, stage, reason, tries },
  };
}
