import type { Finding } from '../../core/contract/finding.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { artifactContent } from './artifact-content.ts';
import { readJson } from './read-json.ts';

/** What a rule over one JSON report is about. */
export interface DocumentRule {
  readonly rule: string;
  readonly artifact: string;
  readonly expected: string;
  /** Judges one document in normal form. `isOurs`: no check made it. */
  judge(value: unknown, path: string, isOurs: boolean): readonly Finding[];
}

/**
 * Judges every artifact of that name. None, or one without the content of its record, or one that is no JSON is an
 * `error`.
 */
export function judgeDocuments(
  { rule, artifact, expected, judge }: DocumentRule,
  input: Pick<RuleInput, 'artifacts' | 'artifactBytes' | 'unmade'>,
): readonly Finding[] {
  const fail = (found: string, path?: string): Finding => ({
    rule,
    severity: 'error',
    message: `expected \`${artifact}\` to be ${expected}, found ${found}`,
    ...(path === undefined ? {} : { path }),
    detail: { artifact, expected, found },
  });
  const records = input.artifacts.filter(({ name }) => name === artifact);
  const reason = input.unmade?.[artifact];
  if (records.length === 0) return [fail(reason === undefined ? 'none' : `none: ${reason}`)];
  return records.flatMap((record) => {
    const content = artifactContent(input, record);
    if ('found' in content) return [fail(content.found, record.path)];
    const read = readJson(content.bytes);
    if ('found' in read) return [fail(read.found, record.path)];
    return judge(read.value, record.path, record.checkId === undefined);
  });
}
