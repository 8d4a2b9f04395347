import type { IntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { Issue } from '../../core/contract/issue.ts';
import type { Partly } from './partly.ts';
import { aiRefPrefix } from './rules/ai-ref-prefix.ts';
import { artifactDeclared } from './rules/artifact-declared.ts';
import { artifactMinimum } from './rules/artifact-minimum.ts';
import { baseRefForm } from './rules/base-ref-form.ts';
import { checkCommand } from './rules/check-command.ts';
import { checkIdsUnique } from './rules/check-ids-unique.ts';
import { controlCharacters } from './rules/control-characters.ts';
import { domainPatterns } from './rules/domain-patterns.ts';
import { extensionKeys } from './rules/extension-keys.ts';
import { highRisk } from './rules/high-risk.ts';
import { humanLoopApprovers } from './rules/human-loop-approvers.ts';
import { languageRuntime } from './rules/language-runtime.ts';
import { licensesCheck } from './rules/licenses-check.ts';
import { locatorForm } from './rules/locator-form.ts';
import { mediumRiskSecurityCode } from './rules/medium-risk-security-code.ts';
import { recommendedTimeouts } from './rules/recommended-timeouts.ts';
import { requireSbom } from './rules/require-sbom.ts';
import { schemaVersion } from './rules/schema-version.ts';
import { securityCheckArtifacts } from './rules/security-check-artifacts.ts';
import { spdxIds } from './rules/spdx-ids.ts';
import { templateWords } from './rules/template-words.ts';
import { toolConstraints } from './rules/tool-constraints.ts';
import { transparencyProof } from './rules/transparency-proof.ts';
import { writingSecrets } from './rules/writing-secrets.ts';
import { securityWords } from './security-words.ts';

/** Judges what a schema cannot say. Pure; reads a document of which any part may be missing. */
type SemanticRule = (spec: Partly<IntentSpec>, securityWords: readonly string[]) => readonly Issue[];

/** Every semantic rule with the codes it can answer (resolutions A, Semantic rules). */
export const semanticRules: readonly { readonly codes: readonly string[]; readonly find: SemanticRule }[] = [
  { codes: ['SEMANTIC_CONTROL_CHARACTER'], find: controlCharacters },
  { codes: ['SEMANTIC_TEMPLATE_WORDS'], find: templateWords },
  { codes: ['SEMANTIC_LOCATOR_FORM'], find: locatorForm },
  { codes: ['SEMANTIC_BASE_REF'], find: baseRefForm },
  { codes: ['SEMANTIC_CHECK_ID_DUPLICATE'], find: checkIdsUnique },
  { codes: ['SEMANTIC_CHECK_COMMAND'], find: checkCommand },
  { codes: ['SEMANTIC_TIMEOUT_RECOMMENDED'], find: recommendedTimeouts },
  { codes: ['SEMANTIC_ARTIFACT_UNDECLARED'], find: artifactDeclared },
  { codes: ['SEMANTIC_ARTIFACT_MINIMUM'], find: artifactMinimum },
  { codes: ['SEMANTIC_SECURITY_CHECK_ARTIFACTS'], find: securityCheckArtifacts },
  { codes: ['SEMANTIC_REQUIRE_SBOM'], find: requireSbom },
  { codes: ['SEMANTIC_TRANSPARENCY_PROOF'], find: transparencyProof },
  { codes: ['SEMANTIC_SPDX_ID'], find: spdxIds },
  { codes: ['SEMANTIC_LICENSES_UNLIMITED'], find: licensesCheck },
  {
    codes: [
      'SEMANTIC_HIGH_RISK_HUMAN_LOOP',
      'SEMANTIC_HIGH_RISK_APPROVERS',
      'SEMANTIC_HIGH_RISK_REQUIRE_APPROVERS',
      'SEMANTIC_HIGH_RISK_PARALLEL',
    ],
    find: highRisk,
  },
  { codes: ['SEMANTIC_HUMAN_LOOP_APPROVERS', 'SEMANTIC_HUMAN_LOOP_UNASKED'], find: humanLoopApprovers },
  {
    codes: ['SEMANTIC_WRITING_SECRETS_UNJUSTIFIED', 'SEMANTIC_WRITING_SECRETS_APPROVERS'],
    find: writingSecrets,
  },
  { codes: ['SEMANTIC_MEDIUM_RISK_SECURITY_CODE'], find: mediumRiskSecurityCode },
  { codes: ['SEMANTIC_DOMAIN_PATTERN'], find: domainPatterns },
  { codes: ['SEMANTIC_TOOL_CONSTRAINT_UNKNOWN', 'SEMANTIC_TOOL_CONSTRAINT_VALUE'], find: toolConstraints },
  { codes: ['SEMANTIC_SCHEMA_VERSION'], find: schemaVersion },
  { codes: ['SEMANTIC_LANGUAGE_RUNTIME'], find: languageRuntime },
  { codes: ['SEMANTIC_AI_REF_PREFIX'], find: aiRefPrefix },
  { codes: ['SEMANTIC_EXTENSION_KEY'], find: extensionKeys },
];

/** All semantic issues of a document, rule by rule; nothing means that none was found. */
export function findSemanticIssues(
  spec: Partly<IntentSpec>,
  words: readonly string[] = securityWords,
): readonly Issue[] {
  return semanticRules.flatMap(({ find }) => find(spec, words));
}
