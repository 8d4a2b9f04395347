import { stageFindings } from '../../api/run/run-data.ts';
import type { DescribedRule } from '../../core/contract/rule.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { buildSarif } from '../../readers/documents/sarif/build-sarif.ts';

/** Every finding of a run as SARIF 2.1.0; a run whose stages did not all settle says that it is not complete. */
export function renderRunSarif(
  view: RunView,
  version: string,
  described: readonly DescribedRule[] = [],
): string {
  const ofStages = view.stages.flatMap((stage) => stageFindings(stage).map(({ finding }) => finding));
  const sarif = buildSarif({
    findings: [...view.findings, ...ofStages],
    ruleIds: [],
    described,
    version,
    complete: view.state === 'decided' && view.stages.every(({ expected, ran }) => ran === expected),
    ...(view.decision?.commitSha === undefined ? {} : { commit: view.decision.commitSha }),
  });
  return `${JSON.stringify(sarif, undefined, 2)}\n`;
}
