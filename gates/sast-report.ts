/* Findings of static analysis in SARIF reports. */
import type { ArtifactProducer } from '../core/interfaces/artifact.ts';
import { describeRules, reportedIds } from '../core/kernel/rules.ts';
import { buildSarif } from '../readers/documents/sarif/build-sarif.ts';
import { ruleOf } from './rules.ts';
import { showAround, withLineText } from './scan/scan-pieces.ts';

const meta = ruleOf('sast');

/**
 * Builds `sast-report` if no check delivered one: SARIF 2.1.0 with the findings of the built-in rows. Rows without
 * findings are listed too. An unfinished scan is recorded in `invocations`, and the rule `sast` then refuses it.
 */
export const sastReportProducer: ArtifactProducer = {
  contentType: 'application/sarif+json',
  extension: 'sarif',
  async produce({ judge, patch, engineVersion }) {
    const findings = await judge(meta.id);
    const sarif = buildSarif({
      findings: withLineText(showAround(findings, patch.diff, patch.files, [meta])),
      ruleIds: await reportedIds([meta]),
      described: await describeRules([meta]),
      version: engineVersion,
      complete: findings.every(({ detail }) => detail?.incomplete !== true && detail?.code !== 'RULE_FAULT'),
    });
    return new TextEncoder().encode(`${JSON.stringify(sarif, undefined, 2)}\n`);
  },
};
