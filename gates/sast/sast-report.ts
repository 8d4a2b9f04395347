import type { ArtifactProducer } from '../../core/contract/artifact-producer.ts';
import { buildSarif } from '../../readers/documents/sarif/build-sarif.ts';
import { withLineText } from '../scan/line-text.ts';
import { showAround } from '../scan/show-around.ts';
import { describedRows } from './described-rows.ts';

/**
 * `sast-report` where no check delivered one: SARIF 2.1.0 of what our rows say of the change, the rows that found nothing listed too. A scan
 * that was not finished says so in its `invocations`, and the rule `sast` refuses it.
 */
export const sastReportProducer: ArtifactProducer = {
  contentType: 'application/sarif+json',
  extension: 'sarif',
  async produce({ judge, patch, engineVersion }) {
    const findings = await judge('sast');
    const sarif = buildSarif({
      findings: withLineText(showAround(findings, patch.diff, patch.files)),
      ruleIds: describedRows.map(({ id }) => id),
      described: describedRows,
      version: engineVersion,
      complete: findings.every(({ detail }) => detail?.incomplete !== true && detail?.code !== 'RULE_FAULT'),
    });
    return new TextEncoder().encode(`${JSON.stringify(sarif, undefined, 2)}\n`);
  },
};
