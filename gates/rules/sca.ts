import type { RuleFunction } from '../../core/contract/rule.ts';
import { judgeDocuments } from '../formats/judge-documents.ts';

const rule = 'sca';
const artifact = 'sca-report';
const expected = 'JSON: an object or a list';

/** `sca-report` is there and is JSON. The contract names no format for it, so this version does not judge what it says, and says so. */
export const judge: RuleFunction = (input) =>
  judgeDocuments({ rule, artifact, expected, judge: judgeReport }, input);

function judgeReport(value: unknown, path: string) {
  const isReport = typeof value === 'object' && value !== null;
  return [
    {
      rule,
      severity: isReport ? ('note' as const) : ('error' as const),
      message: isReport
        ? `\`${artifact}\` is JSON; what it says is not judged by this version`
        : `expected \`${artifact}\` to be ${expected}, found ${value === null ? 'null' : `a ${typeof value}`}`,
      path,
      detail: { artifact, expected },
    },
  ];
}
