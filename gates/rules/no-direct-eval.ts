/* The rule `no-direct-eval`. */
import type { RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import { executing } from '../direct-eval/candidates.ts';
import { executesText, linesOf } from '../direct-eval/hits.ts';
import { candidateLanguage, type SourceScan, scanChange } from '../direct-eval/scan-change.ts';

const rule = 'no-direct-eval';

const scan: SourceScan = {
  searches: executing,
  isMine: executesText,
  toFinding(source, hit, offset) {
    const call = Buffer.from(hit.call, 'latin1').toString('utf8');
    return {
      rule,
      severity: 'error',
      message: `\`${call}\` ${hit.why}`,
      path: source.path,
      ...source.positionOf(offset),
      detail: {
        call,
        language: source.language,
        ...linesOf(source, hit, offset),
        ...(source.whole ? {} : { seen: 'diff only' }),
      },
    };
  },
  unscanned: (message, path) => ({
    rule,
    severity: 'error',
    message,
    ...(path === undefined ? {} : { path }),
  }),
  says: { many: 'execute text directly', unread: 'scanned', large: ': it may hold direct execution' },
};

/** Refuses added lines that execute text directly: docs/reference/direct-execution.md defines what counts. */
export const judge: RuleFunction = (input) => scanChange(input, scan);

/** If no word of direct execution is in the change or the files, the rule parses no file. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => candidateLanguage(input, file, scan) === undefined);
