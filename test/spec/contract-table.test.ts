import t from 'tap';
import { places } from './schema-walk.ts';

/**
 * The tables of document 1, written down a second time: place, bounds or choices, default. `!` means required, `[n]` at
 * least n items. The schema must say the same, and nothing else.
 */
const table = `
apiVersion! pattern ="intentspec.io/v1alpha1"
kind! const ="IntentSpec"
metadata!
metadata/id! 8..128
metadata/createdAt! date-time
metadata/createdBy!
metadata/createdBy/type! user|agent|system
metadata/createdBy/id! 1..128
metadata/createdBy/displayName ..256
metadata/target!
metadata/target/repo!
metadata/target/repo/type! git|monorepo|local
metadata/target/repo/locator! 1..512
metadata/target/baseRef! 1..128
metadata/target/workspaceId ..128
metadata/target/labels ={}
intent!
intent/summary! 5..256
intent/problemStatement! 10..8000
intent/changeType! bugfix|feature|refactor|performance|security|docs|chore|unknown ="unknown"
intent/objectives! [1]
intent/objectives/0 3..2000
intent/inScope! [1]
intent/inScope/0 1..2000
intent/outOfScope! [0] =[]
intent/outOfScope/0 1..2000
intent/touchHints ={}
intent/touchHints/files [0] =[]
intent/touchHints/files/0 1..512
intent/touchHints/symbols [0] =[]
intent/touchHints/symbols/0 1..256
intent/touchHints/apis [0] =[]
intent/touchHints/apis/0 1..512
acceptance!
acceptance/successCriteria! [1]
acceptance/successCriteria/0 5..4000
acceptance/verificationPlan!
acceptance/verificationPlan/fastChecks! [0] =[]
acceptance/verificationPlan/fastChecks/0
acceptance/verificationPlan/fastChecks/0/id! 1..128
acceptance/verificationPlan/fastChecks/0/kind! command|testSuite|policy ="command"
acceptance/verificationPlan/fastChecks/0/command 1..2000
acceptance/verificationPlan/fastChecks/0/timeoutSeconds 1..86400 =900
acceptance/verificationPlan/fastChecks/0/expectedExitCode 0..255 =0
acceptance/verificationPlan/fastChecks/0/required! boolean =true
acceptance/verificationPlan/fastChecks/0/artifactsProduced [0] =[]
acceptance/verificationPlan/fastChecks/0/artifactsProduced/0 1..128
acceptance/qualityGates ={}
acceptance/qualityGates/requireNewTestsWhenBugfix boolean =true
acceptance/qualityGates/maxAllowedRegression none|low|medium ="none"
constraints!
constraints/security!
constraints/security/networkPolicy! deny|allow ="deny"
constraints/security/dependencyPolicy! no-new|allow-with-review|allow ="allow-with-review"
constraints/security/cryptoPolicy ..2000 =""
constraints/privacy!
constraints/privacy/dataClassesAllowed! [0] =["public"]
constraints/privacy/dataClassesAllowed/0 public|internal|confidential|pii|phi|secrets
constraints/privacy/redactionRequired! boolean =true
constraints/privacy/retentionDays 0..3650 =30
constraints/licensing!
constraints/licensing/allowedSpdx! [0] =[]
constraints/licensing/allowedSpdx/0 1..128
constraints/licensing/forbidNewLicenses! boolean =false
constraints/platform ={}
constraints/platform/languageRuntime ..128 =""
constraints/platform/supportedOS [0] =[]
constraints/platform/supportedOS/0 ..64
constraints/resources ={}
constraints/resources/maxWallClockSeconds 1..604800 =14400
constraints/resources/maxCostUnits 0.. =0
risk!
risk/level! low|medium|high ="medium"
risk/rationale! 5..4000
risk/factors [0] =[]
risk/factors/0 ..256
risk/humanInLoop!
risk/humanInLoop/required! boolean =false
risk/humanInLoop/minApprovers! 0..10 =0
evidence!
evidence/strategy! repo-first|pinned-official|open-web ="repo-first"
evidence/trustTiers! [1] =["repo","standards","vendor-doc"]
evidence/trustTiers/0 repo|vendor-doc|standards|web|user-provided
evidence/domainAllowlistMode! disabled|allowlist-only ="allowlist-only"
evidence/allowedDomains [0] =[]
evidence/allowedDomains/0 1..256
evidence/blockedDomains [0] =[]
evidence/blockedDomains/0 1..256
evidence/minCitationsPerDecision 0..20 =1
security!
security/toolAcl!
security/toolAcl/allow! [1]
security/toolAcl/allow/0
security/toolAcl/allow/0/tool! 1..128
security/toolAcl/allow/0/actions! [1]
security/toolAcl/allow/0/actions/0 ..64
security/toolAcl/allow/0/constraints ={}
security/toolAcl/deny [0] =[]
security/secrets!
security/secrets/policy! deny-all|read-only-scoped|allow-scoped ="deny-all"
security/secrets/allowedScopes [0] =[]
security/secrets/allowedScopes/0 ..128
security/promptInjection!
security/promptInjection/treatRetrievedContentAsUntrusted! boolean =true
security/promptInjection/enforceOutputSchema! boolean =true
security/promptInjection/disallowInstructionFromEvidence boolean =true
security/outputHandling!
security/outputHandling/encodingPolicy! contextual-escape|strict-json|none ="contextual-escape"
security/outputHandling/noDirectEval! boolean =true
execution!
execution/retry!
execution/retry/maxRetries! 0..20 =3
execution/retry/backoffSeconds 0..3600 =10
execution/replan ={}
execution/replan/triggers [0] =["repeated-test-fail","security-gate-fail","evidence-conflict"]
execution/replan/triggers/0 evidence-conflict|scope-creep|repeated-test-fail|security-gate-fail|unknown-api
execution/concurrency ={}
execution/concurrency/maxParallelTasks 1..128 =4
artifacts!
artifacts/required! [1]
artifacts/required/0
artifacts/required/0/name! patchset|test-log|build-log|sast-report|sca-report|sbom|provenance-attestation|transparency-proof|release-notes
artifacts/required/0/stage! per-task|integration|security|release
artifacts/required/0/required! boolean =true
artifacts/required/0/format ..64 =""
artifacts/retention ={}
artifacts/retention/days 0..3650 =90
provenance!
provenance/requireSlsaProvenance! boolean =true
provenance/requireSbom! boolean =true
provenance/transparencyLog!
provenance/transparencyLog/mode! none|public-log|internal-ledger ="public-log"
provenance/bindings!
provenance/bindings/embedIntentSpecDigest! boolean =true
provenance/bindings/embedEvidenceDigests boolean =true
lifecycle!
lifecycle/schemaVersion! pattern ="1.0.0"
lifecycle/status! draft|active|deprecated|closed ="active"
lifecycle/changeLog! [0] =[]
lifecycle/changeLog/0
lifecycle/changeLog/0/at! date-time
lifecycle/changeLog/0/by! 1..128
lifecycle/changeLog/0/reason! 1..2000
lifecycle/changeLog/0/diffSummary! 1..4000
objmodel ={}
objmodel/objectStore ={}
objmodel/objectStore/backend git-native|external-s3|external-local ="git-native"
objmodel/objectStore/blobRetentionStrategy ref-anchoring|orphan-commit|keep-pack|custom-gc ="ref-anchoring"
objmodel/objectStore/aiRefPrefix ="refs/ai/"
objmodel/contextPipeline ={}
objmodel/contextPipeline/maxFrames 0.. =128
objmodel/contextPipeline/seedFrameKind IntentAnalysis|Checkpoint ="IntentAnalysis"
objmodel/contextPipeline/checkpointOnReplan boolean =true
objmodel/planGeneration ={}
objmodel/planGeneration/decompositionMode per-objective|per-file-cluster|single-task ="per-objective"
objmodel/planGeneration/conflictResolution merge-tasks|force-serial|fail-fast ="force-serial"
objmodel/planGeneration/gateTaskPerStage boolean =true
objmodel/runPolicy ={}
objmodel/runPolicy/patchsetFormat Unified|GitDiff ="GitDiff"
objmodel/runPolicy/snapshotOnRunStart boolean =true
objmodel/runPolicy/metricsSchema ={}
objmodel/actorMapping ={}
objmodel/actorMapping/orchestratorActorId ="writ-orchestrator"
objmodel/actorMapping/coderActorId ="writ-coder"
objmodel/actorMapping/reviewerActorId ="writ-reviewer"
objmodel/decisionPolicy ={}
objmodel/decisionPolicy/abandonOnSecurityGateFail boolean =true
objmodel/decisionPolicy/checkpointBeforeReplan boolean =true
objmodel/decisionPolicy/rollbackOnProvenanceFail boolean =true
extensions ={}
`;

/** Shown once: the other three lists hold the same Check, deny the same ToolRule. */
const repeated =
  /^acceptance\/verificationPlan\/(?:integration|security|release)Checks|^security\/toolAcl\/deny\/0/;

t.test('every field of the schema matches the reference table of the spec', async (t) => {
  const said = places()
    .filter(({ path }) => path.length > 0 && !repeated.test(path.join('/')))
    .map(({ path, node, required, default: fallback }) => {
      const name = `${path.join('/')}${required ? '!' : ''}`;
      const value = fallback === undefined ? '' : ` =${JSON.stringify(fallback)}`;
      return `${name}${formOf(node)}${value}`;
    });
  t.strictSame(said, table.trim().split('\n'));
});

function formOf(node: ReturnType<typeof places>[number]['node']): string {
  if (node.enum) return ` ${node.enum.join('|')}`;
  if (node.const !== undefined) return ' const';
  if (node.pattern !== undefined) return ' pattern';
  if (node.format !== undefined) return ` ${node.format}`;
  if (node.type === 'array') return ` [${node.minItems ?? 0}]`;
  if (node.type === 'integer') return ` ${node.minimum ?? ''}..${node.maximum ?? ''}`;
  if (node.type === 'boolean') return ' boolean';
  if (node.type === 'string' && (node.minLength ?? node.maxLength) !== undefined)
    return ` ${node.minLength ?? ''}..${node.maxLength ?? ''}`;
  return '';
}
