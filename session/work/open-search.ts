import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { PrivacyPolicy } from '../../core/contract/privacy-policy.ts';
import type { Web } from '../../core/contract/web.ts';
import { openWeb } from '../../engine/run/work/web/open-web.ts';
import { webTool } from '../../engine/run/work/web/web-network.ts';
import { redactTexts } from '../../readers/sensitive/redact-texts.ts';
import { consentGround } from './consent-ground.ts';
import { personOf } from './person-of.ts';
import type { TurnScope } from './turn-scope.ts';

/** What a question is answered under. */
export interface QuestionGround {
  readonly runId: string;
  readonly effective: EffectiveIntentSpec;
  readonly policy: PrivacyPolicy;
  /** Values that the model's provider is asked with. */
  readonly secrets: readonly string[];
}

/**
 * The search of the web for a question, if the person allowed the network of the session. There is no spec behind a
 * question, so no domain list applies; pages cannot be read, because an address of any host could carry out
 * what the model has read.
 */
export async function openSearch(
  scope: TurnScope,
  { runId, effective, policy, secrets }: QuestionGround,
): Promise<Web | undefined> {
  const { setting, signal } = scope;
  const { engine, clock, networkAccess } = setting;
  if (networkAccess !== 'allow') return undefined;
  const { constraints, evidence, security } = effective;
  const person = personOf(scope, await consentGround(setting, { networkAccess, hosts: [] }, () => undefined));
  const ground = {
    runId,
    effective: {
      ...effective,
      constraints: { ...constraints, security: { ...constraints.security, networkPolicy: networkAccess } },
      evidence: {
        ...evidence,
        strategy: 'open-web' as const,
        domainAllowlistMode: 'disabled' as const,
        trustTiers: [...evidence.trustTiers, 'web' as const],
      },
      security: {
        ...security,
        toolAcl: {
          ...security.toolAcl,
          allow: [
            ...security.toolAcl.allow,
            { tool: webTool, actions: ['search' as const], constraints: {} },
          ],
        },
      },
    },
    policy,
    signal,
    settings: { ...setting.run, clock },
    secrets,
  };
  return openWeb(ground, {
    strategy: await engine.slots.evidence.pick('open-web'),
    place: { workspace: setting.repositoryPath },
    tools: {
      engine,
      nowMs: () => clock.now(),
      mask: (text) => redactTexts(text, policy),
      signal,
      consent: (request) => person.consent(request, signal),
    },
    repositoryUses: () => 0,
  });
}
